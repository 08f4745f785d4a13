// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/machine/microcode.h"

namespace deuteron::neutron {

// v = x - x_zero; y = clamp(y_zero + (v >= 0 ? rq(positive, v) : rq(negative, v * (alpha -
// alpha_zero)))); x and y have no gaps, alpha has strides over their extents.
struct PreluCall {
  Operand x, alpha, y;
  int32_t extent[kMaxRank], alpha_stride[kMaxRank];
  int32_t x_zero, alpha_zero, y_zero;
  int32_t positive_multiplier, positive_shift, negative_multiplier, negative_shift;
  int32_t y_min, y_max;
};

}  // namespace deuteron::neutron
