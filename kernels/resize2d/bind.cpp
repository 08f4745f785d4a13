// SPDX-License-Identifier: Apache-2.0
// deuteron::resize2d: its arguments and every position of its tables checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare.h"
#include "kernels/resize2d/kernel.h"
#include "kernels/resize2d/prepare.h"
#include "runtime/instruction_set.h"

namespace deuteron {

const Kernel kResize2d = {
    "deuteron::resize2d.out", "TTTO",
    prepare_resize2d<int8_t, why_not_image, why_not_position, resize2d_s8, resize2d_s8_mve>};

}  // namespace deuteron
