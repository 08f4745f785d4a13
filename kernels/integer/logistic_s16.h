// SPDX-License-Identifier: Apache-2.0
// The logistic function and tanh in 16-bit fixed point, bit-exact with gemmlowp's, which TFLite's
// integer LSTM uses. Products are Q0.15, rounded half up; each quotient is three steps of Newton's
// method. Source: gemmlowp fixedpoint/fixedpoint.h, FixedPoint<int16_t, b>: b bits before the point
// and 15 - b behind it.
#pragma once
#include <cstdint>

#include "kernels/integer/requantize.h"

namespace deuteron {

inline constexpr int16_t kExpOfMinusEighthQ15 = 28918, kThirdQ15 = 10923;
inline constexpr int16_t kExpFactorsQ15[] = {25520, 19875, 12055, 4435,
                                             600,   11,    0};  // exp(-2^k), k = -2..4
inline constexpr int16_t k48Of17Q13 = 23130, k32Of17Q13 = 15420;

// a * b / 2^15, never of two -32768.
inline int32_t multiply_high_s16(int32_t a, int32_t b) { return (a * b + (1 << 14)) >> 15; }

// exp(a) of -1/4 <= a < 0, Q0.15: Taylor's polynomial around -1/8.
inline int32_t exp_of_quarter_q15(int32_t a) {
  const int32_t x = a + (1 << 12), x2 = multiply_high_s16(x, x), x3 = multiply_high_s16(x2, x),
                x4 = multiply_high_s16(x2, x2);
  const int32_t from_second =
      round_shift_right(multiply_high_s16(round_shift_right(x4, 2) + x3, kThirdQ15) + x2, 1);
  return saturate_s16(kExpOfMinusEighthQ15 +
                      multiply_high_s16(kExpOfMinusEighthQ15, x + from_second));
}

// exp(a) of -2^15 <= a <= 0 with `bits` before the point, in Q0.15; 1 is 32767.
inline int32_t exp_of_negative_q15(int32_t a, int bits) {
  if (a == 0) return INT16_MAX;
  const int fraction = 15 - bits;
  if (bits > 5 && a < -(32 << fraction)) return 0;
  const int32_t quarter = 1 << (fraction - 2), in_quarter = (a & (quarter - 1)) - quarter,
                rest = in_quarter - a;
  int32_t result = exp_of_quarter_q15(in_quarter * (1 << bits));
  for (int k = -2; k <= 4 && k < bits; ++k)
    if (rest & 1 << (fraction + k)) result = multiply_high_s16(result, kExpFactorsQ15[k + 2]);
  return result;
}

// 2 / (1 + a) of 0 <= a <= 1: a in Q0.15, the quotient in Q2.13.
inline int32_t double_reciprocal_q13(int32_t a) {
  const int32_t half = (a + INT16_MAX + 1) / 2;
  int32_t x = k48Of17Q13 + multiply_high_s16(half, -k32Of17Q13);
  for (int i = 0; i < 3; ++i)
    x = static_cast<int16_t>(
        x + saturate_s16(multiply_high_s16(x, (1 << 13) - multiply_high_s16(half, x)) * 4));
  return x;
}

// 1 / (1 + exp(-v)), Q3.12 to Q0.15.
inline int32_t gemmlowp_logistic_q15(int32_t v) {
  if (v == 0) return 1 << 14;
  const int32_t positive =
      saturate_s16(double_reciprocal_q13(exp_of_negative_q15(v > 0 ? -v : v, 3)) * 2);
  return v > 0 ? positive : INT16_MAX - positive;
}

// v with `bits` before the point, 0..6, to Q0.15.
inline int32_t gemmlowp_tanh_q15(int32_t v, int bits) {
  if (v == 0) return 0;
  const int32_t of_magnitude = saturate_s16(
      (double_reciprocal_q13(exp_of_negative_q15(v < 0 ? v : -v, bits + 1)) - (1 << 13)) * 4);
  return v < 0 ? -of_magnitude : of_magnitude;
}

}  // namespace deuteron
