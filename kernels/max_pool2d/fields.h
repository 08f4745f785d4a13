// SPDX-License-Identifier: Apache-2.0
// The fields of the arguments of maximum pooling, for what prints its calls.
#pragma once
#include "kernels/common/fields.h"
#include "kernels/max_pool2d/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(MaxPool2dArgs, n, in_h, in_w, channels, out_h, out_w, kernel_h, kernel_w, stride_h,
                stride_w, pad_h, pad_w, dilation_h, dilation_w, y_min, y_max)

}  // namespace deuteron
