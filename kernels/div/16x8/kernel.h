// SPDX-License-Identifier: Apache-2.0
// int16 quotient of two tensors with TFLite's arithmetic (16x8): the product of the one and of the
// other's reciprocal in fixed point.
//   y[i] = clamp(q, y_min, y_max), q = 0 where other[i] is 0, else with both signs turned where
//   other[i] < 0
//     q = round_shift_right(multiply_high(multiply_high(x[i] << n, r), multiplier), e + n - shift)
//     r = 2^31 * 2^e / other[i] in three steps of Newton's method, 2^e <= other[i] < 2^(e + 1); n:
//     how often x[i] may be doubled
//   A shift beyond 31 gives 0.
// Shapes   x, other, y [count]
// Units    all have zero point 0; multiplier * 2^(shift - 31) = scale of x / (scale of other *
// scale of y); y_min, y_max -32768..32767 Limits   shift -31..15, so that the shift to the right is
// not negative Scratch  none   Errors  none   Aliasing  y may be x or other Source   TFLite's
// reference kernel DivElementwise of int16, which stops at an other[i] of 0 and leaves shifts
// beyond 31 undefined
#pragma once
#include <cstdint>

namespace deuteron {

struct Div16x8Args {
  int32_t count, multiplier, shift, y_min, y_max;
};

void div_16x8(const Div16x8Args& a, const int16_t* x, const int16_t* other, int16_t* y);

}  // namespace deuteron
