// SPDX-License-Identifier: Apache-2.0
// int16 product of two tensors with TFLite's arithmetic (16x8).
//   y[i] = clamp(requantize(x[i] * other[i], multiplier, shift), y_min, y_max)
// Shapes   x, other, y [count]
// Units    all have zero point 0; multiplier, shift: kernels/integer/requantize.h, rounded twice;
// y_min, y_max -32768..32767 Limits   none   Scratch  none   Errors  none   Aliasing  y may be x or
// other   Source  TFLite's reference kernel Mul of int16
#pragma once
#include <cstdint>

namespace deuteron {

struct Mul16x8Args {
  int32_t count, multiplier, shift, y_min, y_max;
};

void mul_16x8(const Mul16x8Args& a, const int16_t* x, const int16_t* other, int16_t* y);

}  // namespace deuteron
