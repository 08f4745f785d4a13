// SPDX-License-Identifier: Apache-2.0
// int16 softmax of each row with TFLite's arithmetic (16x8): two tables with straight lines between
// their entries.
//   line(t, v) = t[k] + ((t[k+1] - t[k]) * (v & 127) + 64 >> 7), k = 256 + (v >> 7), of which 16
//   bits are kept e[i] = line(exp_table, clamp(requantize(x[i] - max(x), multiplier, shift) +
//   32767, -32768, 32767)) S    = max(sum of e, 2); h = leading zeros of S in 32 bits r    =
//   line(reciprocal_table, clamp(((S << (h-1)) + 2^13 >> 14) - 3 * 2^15, -32768, 32767)) y[i] =
//   clamp((e[i] * r + 2^(30-h)) >> (31-h), 0, 32767)
// Shapes   x, y [rows,columns]   exp_table, reciprocal_table [513]   storage order, no gaps
// Units    x and y have zero point 0, y scale 2^-15; multiplier 0..2^31-1, shift -31..15:
// kernels/integer/requantize.h; the tables' entries
//          are any
// Limits   columns 1..65536, so that S fits int32
// Scratch  none   Errors  none   Aliasing  y may be x   Source  TFLite's reference kernel
// SoftmaxInt16
#pragma once
#include <cstdint>

namespace deuteron {

inline constexpr int32_t kSoftmax16x8Entries = 513, kSoftmax16x8MostColumns = 1 << 16;

struct Softmax16x8Args {
  int32_t rows, columns, multiplier, shift;
};

void softmax_16x8(const Softmax16x8Args& a, const int16_t* x, const int16_t* exp_table,
                  const int16_t* reciprocal_table, int16_t* y);

}  // namespace deuteron
