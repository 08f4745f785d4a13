// SPDX-License-Identifier: Apache-2.0
// int16 products of slices with TFLite's arithmetic (16x8).
//   p = x[o,0,i]; for k = 1..: p = scaled(p * x[o,k,i]);   y[o,i] = clamp(scaled(p), -32768, 32767)
//     scaled(v) = (v * m + 2^(14 - shift)) >> (15 - shift), modulo 2^32; m: the 15 highest bits of
//     the multiplier, rounded
// Shapes   x [outer,slice,inner]   y [outer,inner]   storage order, no gaps
// Units    x and y have zero point 0; multiplier * 2^(shift - 31) = scale of x / (scale of y)^(1 /
// slice) Limits   slice >= 1; shift -31..14   Scratch  none   Errors  none   Aliasing  y overlaps
// nothing Source   TFLite's reference kernel QuantizedReduceProd of int16
#pragma once
#include <cstdint>

namespace deuteron {

struct Prod16x8Args {
  int32_t outer, slice, inner, multiplier, shift;
};

void prod_16x8(const Prod16x8Args& a, const int16_t* x, int16_t* y);

}  // namespace deuteron
