// SPDX-License-Identifier: Apache-2.0
// int8 fully connected layer.
//   y[r,o] = clamp(y_zero + rq(first[o] + sum over i of (x[r,i] + x_offset) * (weight[o,i] +
//   weight_offset)), y_min, y_max)
//     rq(v) = requantize(v, multiplier, shift): kernels/integer/requantize.h
// Two forms in the files: first = the bias; or first = x_offset * (sum over i of weight[o,i]) +
// bias, computed ahead of time, and then the x_offset of the arguments is 0. The results are equal.
// Shapes   x [rows,in]   weight [out,in]   first [out] or null   y [rows,out]   storage order, no
// gaps Units    x_offset, weight_offset = -(zero point), -255..255; y_zero in steps; y_min, y_max
// -128..127; multiplier Q0.31, shift -31..30 Limits   sums wrap at 2^32 Scratch  none (2.3 KB of
// stack) Errors   none   Aliasing  y overlaps nothing   Source  TFLite 8-bit quantization
// specification, FULLY_CONNECTED
#pragma once
#include <cstdint>

namespace deuteron {

struct LinearArgs {
  int32_t rows, in, out;
  int32_t x_offset, weight_offset, y_zero, multiplier, shift, y_min, y_max;
};

void linear_s8(const LinearArgs& a, const int8_t* x, const int8_t* weight, const int32_t* first,
               int8_t* y);

// The same with the M-profile Vector Extension. Reads nothing beyond its operands.
// Limits   why_not_linear_mve() is null
void linear_s8_mve(const LinearArgs& a, const int8_t* x, const int8_t* weight, const int32_t* first,
                   int8_t* y);

// Null where linear_s8_mve serves a call, else why the portable kernel does.
inline const char* why_not_linear_mve(const LinearArgs& a) {
  return a.shift > 0 ? "the sum is scaled by 1 or more" : nullptr;
}

// The same with the DSP extension.
// Limits   why_not_linear_dsp() is null
void linear_s8_dsp(const LinearArgs& a, const int8_t* x, const int8_t* weight, const int32_t* first,
                   int8_t* y);

inline const char* why_not_linear_dsp(const LinearArgs& a) {
  return a.x_offset < -127 || a.x_offset > 128 ? "the zero point of the input is not int8"
                                               : nullptr;
}

// The same for one row of x, or a few with many outputs, three outputs at a time; 4 KB of stack.
// Limits   why_not_linear_rows_dsp() is null
void linear_s8_rows_dsp(const LinearArgs& a, const int8_t* x, const int8_t* weight,
                        const int32_t* first, int8_t* y);

inline constexpr int32_t kDspRow = 2048;  // elements of x, which lie on the stack as int16
// Null where linear_s8_rows_dsp serves a call and is the faster one.
inline const char* why_not_linear_rows_dsp(const LinearArgs& a, const int8_t* weight,
                                           const int32_t* first) {
  if (why_not_linear_dsp(a)) return "the zero point of the input is not int8";
  if (a.rows > 1 && a.out <= 64) return "rows meet an output together";
  if (a.in % 8 != 0 || a.in > kDspRow) return "rows are no multiple of 8, or too long";
  if (a.out < 3) return "there are fewer than three outputs";
  if (first == nullptr || a.weight_offset != 0) return "sums begin at 0, or weights have an offset";
  if (a.shift > 0 || a.shift < -20 || a.multiplier < 0)
    return "the scale is 1 or more, below 2^-20 or negative";
  if ((a.shift == 0) != (a.multiplier < 1 << 30))
    return "the multiplier is not what its shift asks for";
  if (a.y_min != -128 || a.y_max != 127) return "results have bounds";
  return reinterpret_cast<uintptr_t>(weight) % 4 == 0 ? nullptr : "weights are misaligned";
}

// The same with neither, for rows of up to 2560 elements, with Thumb-1 of 1280 (5 KB of stack); the
// portable kernel serves longer ones.
void linear_s8_scalar(const LinearArgs& a, const int8_t* x, const int8_t* weight,
                      const int32_t* first, int8_t* y);

}  // namespace deuteron
