// SPDX-License-Identifier: Apache-2.0
// int8 normalization of rows, exact up to one rounding at the end.
//   q[i] = x[r,i] - x_zero, n = columns, S = sum of q (0 unless centered)
//   V    = (n * sum of q^2 - S^2) * 2^epsilon_bits + epsilon                    n^2 (variance +
//   epsilon), in squares of steps m    = floor(2^61 / floor(sqrt(V * 2^s))), s even, 2^60 <= V *
//   2^s < 2^62   of 31 bits, so 2^31 becomes 2^31 - 1; 0 where V is 0 d    = (n * q[i] - S) * m /
//   2^(41 - (epsilon_bits + s) / 2), rounded         the deviation in 2^-20 of the standard
//   deviation y    = clamp(y_zero + (d * weight[i] + bias[i] * 2^20) / 2^(20 + shift), -128, 127),
//   rounded: halves go up
// Shapes   x, y [rows,columns]; weight, bias [columns]   storage order, no gaps
// Units    weight, bias in 2^-shift steps of y; epsilon in 2^-epsilon_bits squares of steps of x,
// times n^2 Limits   columns 1..kMostNormalized: sums of squares stay within int32; weight, bias
// within +-2^30; shift 0..kMostNormShift;
//          epsilon_bits 0..kMostEpsilonBits, even; (65025 n^2) * 2^epsilon_bits + epsilon < 2^62
// Scratch  none   Errors  none   Aliasing  y may be x
#pragma once
#include <cstdint>

namespace deuteron {

inline constexpr int32_t kMostNormalized = 32768, kMostNormShift = 40, kMostEpsilonBits = 16;

struct LayerNormArgs {
  int32_t rows, columns;
  int32_t x_zero, y_zero;
  int32_t epsilon_bits, shift;
  int64_t epsilon;
  bool centered;
};

void layer_norm_s8(const LayerNormArgs& a, const int8_t* x, const int32_t* weight,
                   const int32_t* bias, int8_t* y);
void layer_norm_s8_mve(const LayerNormArgs& a, const int8_t* x, const int32_t* weight,
                       const int32_t* bias, int8_t* y);

}  // namespace deuteron
