// SPDX-License-Identifier: Apache-2.0
// int16 product of two series of matrices, the second one transposed, with TFLite's arithmetic
// (16x8).
//   y[b,m,n] = clamp((v * multiplier + 2^(shift-1)) >> shift, y_min, y_max), v = sum over k of
//   x[b,m,k] * other[b,n,k] in 64 bits
// Shapes   x [batch,rows,inner]   other [batch,columns,inner]   y [batch,rows,columns]   storage
// order, no gaps Units    all have zero point 0; multiplier 0..32767, shift 1..46:
// requantize_16x8(); y_min, y_max -32768..32767 Limits   none   Scratch  none   Errors  none
// Aliasing  y overlaps nothing   Source  TFLite's reference kernel BatchMatMul of int16
#pragma once
#include <cstdint>

namespace deuteron {

struct Matmul16x8Args {
  int32_t batch, rows, columns, inner;
  int32_t multiplier, shift, y_min, y_max;
};

void matmul_16x8(const Matmul16x8Args& a, const int16_t* x, const int16_t* other, int16_t* y);

// The same with the M-profile Vector Extension, and with the DSP extension.
void matmul_16x8_mve(const Matmul16x8Args& a, const int16_t* x, const int16_t* other, int16_t* y);
void matmul_16x8_dsp(const Matmul16x8Args& a, const int16_t* x, const int16_t* other, int16_t* y);

}  // namespace deuteron
