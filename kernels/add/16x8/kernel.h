// SPDX-License-Identifier: Apache-2.0
// int16 sums and differences with TFLite's arithmetic (16x8).
//   add_16x8      y[i] = clamp(requantize(term(x[i], x_multiplier, x_shift) + s * term(other[i], m,
//   other_shift), y_multiplier, y_shift))
//     term(v, ..) = requantize(v * 2^15, ..); m = |other_multiplier|, s its sign: a difference has
//     a negative one
//   shifted_add_16x8   y[i] = clamp(round(x[i] / 2^x_shift) + s * round(other[i] / 2^other_shift)),
//   ties away from zero
// Shapes   x, other, y [count]
// Units    all have zero point 0; multipliers and shifts of add_16x8: kernels/integer/requantize.h;
// those of shifted_add_16x8 0..15, s is 1 or -1;
//          clamp is to y_min..y_max, within -32768..32767
// Limits   the sum of two terms is taken modulo 2^32
// Scratch  none   Errors  none   Aliasing  y may be x or other   Source  TFLite's reference kernels
// Add, Sub and Sub16 of int16
#pragma once
#include <cstdint>

namespace deuteron {

struct Add16x8Args {
  int32_t count;
  int32_t x_multiplier, x_shift, other_multiplier, other_shift, y_multiplier, y_shift;
  int32_t y_min, y_max;
};
void add_16x8(const Add16x8Args& a, const int16_t* x, const int16_t* other, int16_t* y);

struct ShiftedAdd16x8Args {
  int32_t count;
  int32_t x_shift, other_shift, sign;
  int32_t y_min, y_max;
};
void shifted_add_16x8(const ShiftedAdd16x8Args& a, const int16_t* x, const int16_t* other,
                      int16_t* y);

}  // namespace deuteron
