// SPDX-License-Identifier: Apache-2.0
// Other steps for int16 or int8, with TFLite's arithmetic (16x8): QUANTIZE of steps, RELU and its
// like, LEAKY_RELU, ABS.
//   y[i] = clamp(y_zero + s * requantize(v, |multiplier|, shift), y_min, y_max)   v = x[i] -
//   x_zero, s the sign of the multiplier
//     with multiplier and shift for v >= 0, below_multiplier and below_shift for v < 0
// Shapes   x, y [count]
// Units    x, y int16 or int8, not both int8; x_zero, y_zero in steps, y_zero 0 of int16;
// multipliers and shifts:
//          kernels/integer/requantize.h, rounded twice; y_min, y_max within y's type
// Limits   none   Scratch  none   Errors  none   Aliasing  y may be x where it is no wider
// Source   TFLite's reference kernels Requantize, ReluX and QuantizeLeakyRelu
#pragma once
#include <cstdint>

namespace deuteron {

struct Rescale16x8Args {
  int32_t count, x_zero;
  int32_t multiplier, shift, below_multiplier, below_shift;
  int32_t y_zero, y_min, y_max;
};

void rescale_16x8(const Rescale16x8Args& a, const int16_t* x, int16_t* y);
void rescale_s8_to_16x8(const Rescale16x8Args& a, const int8_t* x, int16_t* y);
void rescale_16x8_to_s8(const Rescale16x8Args& a, const int16_t* x, int8_t* y);

}  // namespace deuteron
