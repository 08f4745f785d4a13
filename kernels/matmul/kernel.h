// SPDX-License-Identifier: Apache-2.0
// int8 product of two series of matrices, the second one transposed.
//   y[b,m,n] = clamp(y_zero + rq(sum over k of (x[b,m,k] + x_offset) * (other[b,n,k] +
//   other_offset)), -128, 127)
//     rq(v) = requantize(v, multiplier, shift): kernels/integer/requantize.h
// Shapes   x [batch,rows,inner]   other [batch,columns,inner]   y [batch,rows,columns]   storage
// order, no gaps Units    x_offset, other_offset = -(zero point), -255..255; y_zero in steps,
// -128..127; multiplier Q0.31, shift -31..30 Limits   sums wrap at 2^32 Scratch  none (2.3 KB of
// stack); the argument is for kernels of an instruction set: ops/matmul/scratch.h Errors   none
// Aliasing  y overlaps nothing   Source  TFLite 8-bit quantization specification, BATCH_MATMUL
#pragma once
#include <cstdint>

namespace deuteron {

struct MatmulArgs {
  int32_t batch, rows, columns, inner;
  int32_t x_offset, other_offset, y_zero, multiplier, shift;
};

void matmul_s8(const MatmulArgs& a, const int8_t* x, const int8_t* other, int8_t* y);

// The same with the M-profile Vector Extension, with the DSP extension, and with neither: by tiles
// of their own, or by the kernels of linear. Limits   why_not_linear_<instruction set>() of
// linear_of() (kernels/matmul/by_linear.h) is null
void matmul_s8_mve(const MatmulArgs& a, const int8_t* x, const int8_t* other, int8_t* y);
void matmul_s8_dsp(const MatmulArgs& a, const int8_t* x, const int8_t* other, int8_t* y);
void matmul_s8_scalar(const MatmulArgs& a, const int8_t* x, const int8_t* other, int8_t* y);

}  // namespace deuteron
