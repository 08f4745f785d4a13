// SPDX-License-Identifier: Apache-2.0
// TFLite's QUANTIZE from or to int32 steps.
//   y[i] = clamp(y_zero + requantize(x[i] - x_zero, multiplier, shift), the type of y)
// Shapes   x, y [count]
// Units    x and y in steps; y_zero is 0 of int16 and int32, x_zero of int32; multiplier and shift:
// kernels/integer/requantize.h, rounded twice Limits   none: sums are taken modulo 2^32   Scratch
// none   Errors  none   Aliasing  none   Source  TFLite's reference kernel Requantize
#pragma once
#include <cstdint>

namespace deuteron {

struct RescaleS32Args {
  int32_t count, x_zero, multiplier, shift, y_zero;
};

void rescale_s8_to_s32(const RescaleS32Args& a, const int8_t* x, int32_t* y);
void rescale_s16_to_s32(const RescaleS32Args& a, const int16_t* x, int32_t* y);
void rescale_s32_to_s8(const RescaleS32Args& a, const int32_t* x, int8_t* y);
void rescale_s32_to_s16(const RescaleS32Args& a, const int32_t* x, int16_t* y);

}  // namespace deuteron
