// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/machine/microcode.h"

namespace deuteron::neutron {

// MaxPool and AvgPool over what lies inside x: padding takes no part (TFLite). The average is
// rounded to nearest, halves away from zero. Every window must reach into x. x and y have the same
// scale and zero point. dilation is for MaxPool; 1 for AvgPool.
struct PoolCall {
  Operand x, y;
  int32_t n, h, w, c, x_pitch;
  int32_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left;
  int32_t out_h, out_w, y_pitch;
  int32_t y_min, y_max;
};

}  // namespace deuteron::neutron
