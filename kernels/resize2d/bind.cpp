// SPDX-License-Identifier: Apache-2.0
// deuteron::resize2d: its arguments and every position of its tables checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/resize2d/kernel.h"
#include "kernels/resize2d/prepare.h"

namespace deuteron {

const Kernel kResize2d = kernel_by<kResizeRow<Is::s8_image>>(
    "deuteron::resize2d.out",
    prepare_resize2d<int8_t, Is::s8_image, why_not_position, resize2d_s8, resize2d_s8_mve>);

}  // namespace deuteron
