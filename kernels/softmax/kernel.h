// SPDX-License-Identifier: Apache-2.0
// int8 softmax of each row, in fixed point: y has scale 1/256 and zero point -128.
//   d = x[r,i] - max(x[r]); where d < diff_min: y = -128
//   e = exp(d * 2^shift * multiplier / 2^31 as Q5.26), Q0.31; sum = sum of e / 2^12, Q12.19
//   y = clamp(round(256 * e / sum) - 128, -128, 127), by a reciprocal in fixed point with three
//   steps of Newton's method
// Shapes   x, y [rows,columns]   storage order, no gaps
// Units    multiplier Q0.31 > 0, shift 0..31: the input's scale in Q5.26; diff_min <= 0 in steps,
// min(255, -diff_min) * 2^shift <= 2^31 Limits   none on columns. With 512 elements near the
// maximum or more (sum >= 2^28) every result is -128, for 256/512 rounds to nothing:
//          as the vectors of the MVE kernel and exact arithmetic give. The stock scalar code shifts
//          by more than 31 there (127 on x86-64), and so do the last columns % 4 of the MVE kernel,
//          or all of it when gcc 12.2 has built it
// Time     of fewer than 256 elements that of the shape, whatever the data, with Thumb-2 and MVE
// Scratch  none (1 KB of stack)   Errors  none   Aliasing  y may be x   Source  TFLite 8-bit
// quantization specification, SOFTMAX; gemmlowp fixedpoint
#pragma once
#include <cstdint>

namespace deuteron {

// Vectors of four elements up to which softmax_s8_mve finds each exponential, not those of
// distances.
inline constexpr int32_t kSoftmaxFewVectors = 48;

struct SoftmaxArgs {
  int32_t rows, columns, multiplier, shift, diff_min;
};

void softmax_s8(const SoftmaxArgs& a, const int8_t* x, int8_t* y);
void softmax_s8_mve(const SoftmaxArgs& a, const int8_t* x, int8_t* y);  // 1 KB of stack

// The same with a result of int16, of scale 2^-16 and zero point -32768: y = clamp(round(65536 * e
// / sum) - 32768, -32768, 32767). Limits   columns <= kMostSoftmaxWideColumns: the sum stays within
// int32   Aliasing  none   Source  TFLite's reference kernel Softmax
inline constexpr int32_t kMostSoftmaxWideColumns = 4095;
void softmax_s8_wide(const SoftmaxArgs& a, const int8_t* x, int16_t* y);

}  // namespace deuteron
