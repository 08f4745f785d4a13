// SPDX-License-Identifier: Apache-2.0
// deuteron::resize2d_s16: its arguments and every position of its tables checked once, at load.
#include "ops/device/kernels.h"
#include "ops/device/prepare_s16.h"
#include "ops/resize2d/prepare.h"
#include "ops/resize2d_s16/kernel.h"

namespace deuteron {
const Kernel kResize2dS16 = {"deuteron::resize2d_s16.out", "TTTO",
                             prepare_resize2d<int16_t, why_not_image_s16, why_not_position, resize2d_s16>};

}  // namespace deuteron
