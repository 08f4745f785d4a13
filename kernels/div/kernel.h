// SPDX-License-Identifier: Apache-2.0
// Division of two int8 or int16 tensors, in float32.
//   q = float32(x[i] - x_zero) / float32(other[i] - other_zero), 0 where the denominator is 0
//   y[i] = clamp(round(q * scale) + y_zero, ends of the type), halves away from zero; every
//   operation rounded to float32
// Shapes   x, other, y [count]
// Units    scale = scale of x / (scale of other * scale of y), finite; zero points in steps, within
// the type Scratch  none   Errors  none   Aliasing  y may be x or other   Source  ExecuTorch 1.5,
// cortex_m::quantized_div
#pragma once
#include <cstdint>

namespace deuteron {

struct DivArgs {
  int32_t count;
  int32_t x_zero, other_zero, y_zero;
  float scale;
};

void div_s8(const DivArgs& a, const int8_t* x, const int8_t* other, int8_t* y);
void div_s16(const DivArgs& a, const int16_t* x, const int16_t* other, int16_t* y);

}  // namespace deuteron
