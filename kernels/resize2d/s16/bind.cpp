// SPDX-License-Identifier: Apache-2.0
// deuteron::resize2d_s16: its arguments and every position of its tables checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/resize2d/prepare.h"
#include "kernels/resize2d/s16/kernel.h"

namespace deuteron {
const Kernel kResize2dS16 = kernel_by<kResizeRow<Is::s16_image>>(
    "deuteron::resize2d_s16.out",
    prepare_resize2d<int16_t, Is::s16_image, why_not_position, resize2d_s16>);

}  // namespace deuteron
