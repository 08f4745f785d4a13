// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/machine/microcode.h"

namespace deuteron::neutron {

// Add, Sub, Mul, Maximum, Minimum of x and other, each with its strides over the extents of y (0:
// repeated); y has no gaps.
//   rqx, rqo, rqy: rq with the multiplier and shift of x, other, y
//
//   Add  clamp(y_zero + rqy(rqx((x - x_zero) << left_shift) + rqo((other - other_zero) <<
//   left_shift))); left_shift 0..22, TFLite: 20
//
//   Sub  the same with the difference of the two terms
//
//   Mul  clamp(y_zero + rqy((x - x_zero) * (other - other_zero)))
//
//   Maximum, Minimum  clamp(extreme): all three have one scale and zero point
struct PairCall {
  Operand x, other, y;
  int32_t extent[kMaxRank], x_stride[kMaxRank], other_stride[kMaxRank];
  int32_t left_shift;
  int32_t x_zero, x_multiplier, x_shift;
  int32_t other_zero, other_multiplier, other_shift;
  int32_t y_zero, y_multiplier, y_shift;
  int32_t y_min, y_max;
};

}  // namespace deuteron::neutron
