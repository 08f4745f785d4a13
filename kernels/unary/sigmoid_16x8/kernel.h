// SPDX-License-Identifier: Apache-2.0
// int16 logistic function and tanh with TFLite's arithmetic (16x8): straight lines between the
// entries of one table, about logistic(i / 24).
//   d = (x[i] * multiplier + half) >> shift, half = 2^(shift-1), 0 for shift 0: x in steps of 1 /
//   12288 logistic  u = |d| >> 9; r = u >= 255 ? 32767 * 1024 : t[u] * 512 + (|d| & 511) * (t[u+1]
//   - t[u])
//             y = (d >= 0 ? r + 512 : 2^25 - r + 511) >> 10
//   tanh      u = |d| >> 8; r = u >= 255 ? 65535 * 256 : t[u] * 256 + (|d| & 255) * (t[u+1] - t[u])
//             y = (d >= 0 ? r - 2^23 + 128 : 2^23 - r + 127) >> 8
// Shapes   x, y [count]   table [256]
// Units    y has scale 2^-15 and zero point 0, x has zero point 0; multiplier 0..65535, shift
// 0..31; an entry of the table is any
//          uint16 in the bits of an int16
// Limits   none   Scratch  none   Errors  none   Aliasing  y may be x   Source  TFLite's reference
// kernels Logistic and Tanh of int16
#pragma once
#include <cstdint>

namespace deuteron {

inline constexpr int32_t kSigmoid16x8Entries = 256;

struct Sigmoid16x8Args {
  int32_t count, multiplier, shift;
};

void logistic_16x8(const Sigmoid16x8Args& a, const int16_t* x, const int16_t* table, int16_t* y);
void tanh_16x8(const Sigmoid16x8Args& a, const int16_t* x, const int16_t* table, int16_t* y);

}  // namespace deuteron
