// SPDX-License-Identifier: Apache-2.0
// Between int8 and int16 steps, without floats.
//   t = x - x_zero; of int8 times 128, so that both have sixteen bits
//   u = (t * factor + 2^14) >> 15
//   v = shift < 0 ? (u + 2^(-shift-1)) >> -shift : u << shift, saturated to int16
//   y[i] = clamp(v + y_zero, y_min, y_max)
// Shapes   x, y [count]
// Units    x_zero, y_zero in steps: -128..127 of int8, 0 of int16; factor 0..32767; shift -15..15;
// y_min, y_max within the type of y Limits   none: t, u and v are within int16 for all of these,
// and v + y_zero is clamped behind a saturating sum Scratch  none   Errors   none   Source
// docs/precision.md Aliasing requantize_s8: y may begin where x begins; requantize_s16: y overlaps
// nothing
#pragma once
#include <cstdint>

namespace deuteron {

struct RequantizeArgs {
  int32_t count;
  int32_t x_zero, factor, shift, y_zero;
  int32_t y_min, y_max;
};

// of int16 for one of int8: the largest distance of two int8 numbers fits
inline constexpr int32_t kRequantizeSteps = 128;

void requantize_s8(const RequantizeArgs& a, const int16_t* x, int8_t* y);
void requantize_s16(const RequantizeArgs& a, const int8_t* x, int16_t* y);

// The same with the M-profile Vector Extension.
void requantize_s8_mve(const RequantizeArgs& a, const int16_t* x, int8_t* y);
void requantize_s16_mve(const RequantizeArgs& a, const int8_t* x, int16_t* y);

}  // namespace deuteron
