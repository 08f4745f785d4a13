// SPDX-License-Identifier: Apache-2.0
// int16 sums and means of slices with TFLite's arithmetic (16x8).
//   y[o,i] = clamp(requantize(sum over k of x[o,k,i], multiplier, shift), -32768, 32767)
// Shapes   x [outer,slice,inner]   y [outer,inner]   storage order, no gaps
// Units    x and y have zero point 0; multiplier, shift: kernels/integer/requantize.h, rounded
// twice Limits   slice 1..65535, so that a sum fits int32 Scratch  none   Errors  none   Aliasing
// y overlaps nothing   Source  TFLite's reference kernel QuantizedMeanOrSum of int16
#pragma once
#include <cstdint>

namespace deuteron {

inline constexpr int32_t kMostSummed16x8 = 65535;

struct Sum16x8Args {
  int32_t outer, slice, inner, multiplier, shift;
};

void sum_16x8(const Sum16x8Args& a, const int16_t* x, int16_t* y);

}  // namespace deuteron
