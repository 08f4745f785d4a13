// SPDX-License-Identifier: Apache-2.0
// deuteron::resize2d_s16: its arguments and every position of its tables checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare_s16.h"
#include "kernels/resize2d/prepare.h"
#include "kernels/resize2d/s16/kernel.h"

namespace deuteron {
const Kernel kResize2dS16 = {
    "deuteron::resize2d_s16.out", "TTTO",
    prepare_resize2d<int16_t, why_not_image_s16, why_not_position, resize2d_s16>};

}  // namespace deuteron
