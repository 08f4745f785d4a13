// SPDX-License-Identifier: Apache-2.0
// int8 addition of two tensors with their own scales, in one step: cortex_m::quantized_add where
// the compiler has proved that both give the same bits for all 65 536 pairs of values
// (ops/linear/packed_form.h).
//   y[i] = clamp((x[i] * x_factor + other[i mod period] * other_factor + first) >> 20, -128, 127)
// linear_add_q21_s8(), of deuteron::linear_add.q21, has one bit more behind the point: >> 21
// Shapes   x, y [count]   other [period], repeated; period = count is an addition element for
// element Limits   count divides by period; sums wrap at 2^32 Scratch  none   Errors  none Aliasing
// y may be x, and other when period = count; else y overlaps nothing
#pragma once
#include <cstdint>

namespace deuteron {

inline constexpr int32_t kLinearAddRight = 20, kLinearAddQ21Right = 21;

struct LinearAddArgs {
  int32_t count, period;
  int32_t x_factor, other_factor, first;
};

void linear_add_s8(const LinearAddArgs& a, const int8_t* x, const int8_t* other, int8_t* y);

// The same with the M-profile Vector Extension, the DSP extension, and neither.
void linear_add_s8_mve(const LinearAddArgs& a, const int8_t* x, const int8_t* other, int8_t* y);
void linear_add_s8_dsp(const LinearAddArgs& a, const int8_t* x, const int8_t* other, int8_t* y);
void linear_add_s8_scalar(const LinearAddArgs& a, const int8_t* x, const int8_t* other, int8_t* y);

void linear_add_q21_s8(const LinearAddArgs& a, const int8_t* x, const int8_t* other, int8_t* y);
void linear_add_q21_s8_mve(const LinearAddArgs& a, const int8_t* x, const int8_t* other, int8_t* y);
void linear_add_q21_s8_dsp(const LinearAddArgs& a, const int8_t* x, const int8_t* other, int8_t* y);
void linear_add_q21_s8_scalar(const LinearAddArgs& a, const int8_t* x, const int8_t* other,
                              int8_t* y);

}  // namespace deuteron
