// SPDX-License-Identifier: Apache-2.0
// int16 product of two series of matrices, the second one transposed; sums in int64.
//   y[b,m,n] = clamp((rq((sum over k of x[b,m,k] * other[b,n,k]) + 2^(first-1) >> first) +
//   2^(shift-1)) >> shift, y_min, y_max)
//     rq(v) = (v * multiplier + 2^30) >> 31: multiply_high(); a shift of 0 adds nothing
// Shapes   x [batch,rows,inner]   other [batch,columns,inner]   y [batch,rows,columns]   storage
// order, no gaps Units    all have zero point 0; multiplier 0..2^31-1; first 0..30, shift 0..30;
// y_min, y_max -32768..32767 Limits   inner <= 2^first, so that the shifted sum is within int32
// Scratch  none   Errors  none   Aliasing  y overlaps nothing   Source  docs/precision.md
#pragma once
#include <cstdint>

namespace deuteron {

struct MatmulS16Args {
  int32_t batch, rows, columns, inner;
  int32_t first, multiplier, shift, y_min, y_max;
};

void matmul_s16(const MatmulS16Args& a, const int16_t* x, const int16_t* other, int16_t* y);

}  // namespace deuteron
