// SPDX-License-Identifier: Apache-2.0
// Running sums of int8 along one axis.
//   y[o,k,i] = clamp(y_zero + requantize(sum over j = 0..k of (x[o,j,i] - x_zero), multiplier,
//   shift), -128, 127)
// Shapes   x, y [outer, length, inner], in storage order without gaps
// Units    zero points in steps; multiplier, shift: x's scale / y's scale
// (kernels/integer/requantize.h) Limits   length <= most_cumsum_length(shift): a sum, shifted left
// where shift is positive, and then y_zero more stays within int32 Scratch  none   Errors  none
// Aliasing  y may be x
#pragma once
#include <cstdint>

namespace deuteron {

struct CumsumArgs {
  int32_t outer, length, inner;
  int32_t x_zero, y_zero;
  int32_t multiplier, shift;
};

// An element is at most 255 steps away from its zero point; y_zero is at least -128.
constexpr int64_t most_cumsum_length(int64_t shift) {
  return ((INT32_MAX - 128) >> (shift > 0 ? shift : 0)) / 255;
}

void cumsum_s8(const CumsumArgs& a, const int8_t* x, int8_t* y);

}  // namespace deuteron
