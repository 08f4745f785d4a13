// int8 fully connected layer.
//   y[r,o] = clamp(y_zero + rq(first[o] + sum over i of (x[r,i] + x_offset) * (weight[o,i] + weight_offset)), y_min, y_max)
//     rq(v) = requantize(v, multiplier, shift): ops/integer/requantize.h
// Two forms in the files: first = the bias; or first = x_offset * (sum over i of weight[o,i]) + bias, computed ahead of time, and then
// the x_offset of the arguments is 0. The results are equal.
// Shapes   x [rows,in]   weight [out,in]   first [out] or null   y [rows,out]   storage order, no gaps
// Units    x_offset, weight_offset = -(zero point), -255..255; y_zero in steps; y_min, y_max -128..127; multiplier Q0.31, shift -31..30
// Limits   sums wrap at 2^32
// Scratch  none (2.3 KB of stack)
// Errors   none   Aliasing  y overlaps nothing   Source  TFLite 8-bit quantization specification, FULLY_CONNECTED
#pragma once
#include <cstdint>

namespace deuteron {

struct LinearArgs {
  int32_t rows, in, out;
  int32_t x_offset, weight_offset, y_zero, multiplier, shift, y_min, y_max;
};

void linear_s8(const LinearArgs& a, const int8_t* x, const int8_t* weight, const int32_t* first, int8_t* y);

// The same with the M-profile Vector Extension. Reads nothing beyond its operands.
// Limits   why_not_linear_mve() is null
void linear_s8_mve(const LinearArgs& a, const int8_t* x, const int8_t* weight, const int32_t* first, int8_t* y);

// Null where linear_s8_mve serves a call, else why the portable kernel does.
inline const char* why_not_linear_mve(const LinearArgs& a) { return a.shift > 0 ? "the sum is scaled by 1 or more" : nullptr; }

// The same with the DSP extension.
// Limits   why_not_linear_dsp() is null
void linear_s8_dsp(const LinearArgs& a, const int8_t* x, const int8_t* weight, const int32_t* first, int8_t* y);

inline const char* why_not_linear_dsp(const LinearArgs& a) {
  return a.x_offset < -127 || a.x_offset > 128 ? "the zero point of the input is not int8" : nullptr;
}

// The same with neither, for rows of up to 2560 elements, with Thumb-1 of 1280 (5 KB of stack); the portable kernel serves longer ones.
void linear_s8_scalar(const LinearArgs& a, const int8_t* x, const int8_t* weight, const int32_t* first, int8_t* y);

}  // namespace deuteron
