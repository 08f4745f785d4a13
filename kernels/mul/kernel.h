// SPDX-License-Identifier: Apache-2.0
// int8 multiplication of two tensors with their own scales.
//   y[i] = clamp(y_zero + rq((x[i] - x_zero) * (other[i mod period] - other_zero)), -128, 127)
//     rq(v) = requantize(v, multiplier, shift): kernels/integer/requantize.h
// Shapes   x, y [count]   other [period], repeated; period = count is a multiplication element for
// element Units    zero points in steps, -32768..32767: hardswish uses some outside int8;
// multiplier Q0.31; shift -31..30 Limits   count divides by period Scratch  none   Errors  none
// Aliasing  y may be x, and other when period = count; else y overlaps nothing Source   TFLite
// 8-bit quantization specification, MUL
#pragma once
#include <cstdint>
#include <initializer_list>

namespace deuteron {

struct MulArgs {
  int32_t count, period;
  int32_t x_zero, other_zero, y_zero, multiplier, shift;
};

void mul_s8(const MulArgs& a, const int8_t* x, const int8_t* other, int8_t* y);

// The same with the M-profile Vector Extension.
// Limits   why_not_mul_mve() is null
void mul_s8_mve(const MulArgs& a, const int8_t* x, const int8_t* other, int8_t* y);

// What differs from an int8 by more does not fit int16.
inline constexpr int32_t kMulMostZero = 32639;

// Null where mul_s8_mve serves a call, else why the portable kernel does.
inline const char* why_not_mul_mve(const MulArgs& a) {
  for (const int32_t zero : {a.x_zero, a.other_zero, a.y_zero})
    if (zero < -kMulMostZero || zero > kMulMostZero) return "a zero point is far from int8";
  return a.shift > 0 ? "the product is scaled by 1 or more" : nullptr;
}

// The same with the DSP extension, and with neither.
// Limits   why_not_mul_words() is null
void mul_s8_dsp(const MulArgs& a, const int8_t* x, const int8_t* other, int8_t* y);
void mul_s8_scalar(const MulArgs& a, const int8_t* x, const int8_t* other, int8_t* y);

inline const char* why_not_mul_words(const MulArgs& a) {
  for (const int32_t zero : {a.x_zero, a.other_zero, a.y_zero})
    if (zero < -128 || zero > 127) return "a zero point is not int8";
  return why_not_mul_mve(a);
}

}  // namespace deuteron
