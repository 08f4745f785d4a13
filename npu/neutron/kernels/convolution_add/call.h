// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/kernels/convolution/call.h"

namespace deuteron::neutron {

// Conv2DAdd: the convolution of kind `method`, and the sum of its int8 results and `other` as they
// leave.
//   v = convolution's result, within its own bounds
//   y = clamp(sum_zero + rq_sum(rq_x((v - x_zero) << left_shift) + rq_other((other - other_zero) <<
//   left_shift))); left_shift as in Add
// `other` is [n, out_h, out_w, out_c] with a pitch of its own; y lies where the convolution's
// would.
struct ConvAddCall {
  ConvCall conv;
  Operand other;
  int32_t method;  // Conv2DStandardV1, V2 or Pointwise
  int32_t other_pitch;
  int32_t left_shift;
  int32_t x_zero, x_multiplier, x_shift;
  int32_t other_zero, other_multiplier, other_shift;
  int32_t sum_zero, sum_multiplier, sum_shift;
  int32_t sum_min, sum_max;
};
constexpr Kind method_of(const ConvAddCall& a) { return static_cast<Kind>(a.method); }

}  // namespace deuteron::neutron
