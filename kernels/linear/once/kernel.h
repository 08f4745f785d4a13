// SPDX-License-Identifier: Apache-2.0
// int8 fully connected layer whose sums are rounded once, as TFLite's FULLY_CONNECTED has it: for
// those of which no multiplier that linear_s8() rounds by gives the same steps.
//   y[r,o] = clamp(y_zero + rq(first[o] + sum over i of x[r,i] * weight[o,i]), y_min, y_max)
//     rq(v) = requantize_once(v, multiplier[o], shift[o]): kernels/integer/requantize.h
// first: the bias, and -(zero point of x) * (sum over i of weight[o,i]).
// Shapes   x [rows,inputs]   weight [outputs,inputs]   first, multiplier, shift [outputs]   y
// [rows,outputs]   storage order, no gaps Units    y_zero, y_min, y_max -128..127; multiplier
// Q0.31, shift -31..30 Limits   inputs <= kMostOnceInputs, so that a sum of products fits int32;
// first is added modulo 2^32 Scratch  none   Errors  none   Aliasing  y overlaps nothing   Source
// TFLite's reference kernel FullyConnected of int8
#pragma once
#include <cstdint>

namespace deuteron {

inline constexpr int32_t kMostOnceInputs = (1 << 17) - 1;

struct LinearOnceArgs {
  int32_t rows, inputs, outputs;
  int32_t y_zero, y_min, y_max;
};

void linear_once_s8(const LinearOnceArgs& a, const int8_t* x, const int8_t* weight,
                    const int32_t* first, const int32_t* multiplier, const int32_t* shift,
                    int8_t* y);
// The same with the M-profile Vector Extension.
void linear_once_s8_mve(const LinearOnceArgs& a, const int8_t* x, const int8_t* weight,
                        const int32_t* first, const int32_t* multiplier, const int32_t* shift,
                        int8_t* y);
// The same with the DSP extension.
void linear_once_s8_dsp(const LinearOnceArgs& a, const int8_t* x, const int8_t* weight,
                        const int32_t* first, const int32_t* multiplier, const int32_t* shift,
                        int8_t* y);

}  // namespace deuteron
