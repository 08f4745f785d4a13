// SPDX-License-Identifier: Apache-2.0
// kernels/integer/logistic_s16.h for eight numbers with the M-profile Vector Extension. VQRDMULH is
// the product that all of it is made of.
#pragma once
#include <arm_mve.h>

#include <cstdint>

#include "kernels/integer/logistic_s16.h"

namespace deuteron {

inline int16x8_t exp_of_quarter_q15_mve(int16x8_t a) {
  const int16x8_t x = vaddq_n_s16(a, 1 << 12), x2 = vqrdmulhq_s16(x, x), x3 = vqrdmulhq_s16(x2, x),
                  x4 = vqrdmulhq_s16(x2, x2);
  // Neither sum is negative, so that halves go up where they go away from zero.
  const int16x8_t third = vqrdmulhq_n_s16(vaddq_s16(vrshrq_n_s16(x4, 2), x3), kThirdQ15);
  const int16x8_t polynomial = vaddq_s16(x, vrshrq_n_s16(vaddq_s16(third, x2), 1));
  return vqaddq_n_s16(vqrdmulhq_n_s16(polynomial, kExpOfMinusEighthQ15), kExpOfMinusEighthQ15);
}

inline int16x8_t exp_of_negative_q15_mve(int16x8_t a, int bits) {
  const int fraction = 15 - bits;
  const auto quarter = static_cast<int16_t>(1 << (fraction - 2));
  const int16x8_t in_quarter =
      vsubq_n_s16(vandq_s16(a, vdupq_n_s16(static_cast<int16_t>(quarter - 1))), quarter);
  const int16x8_t rest = vsubq_s16(in_quarter, a);
  int16x8_t result = exp_of_quarter_q15_mve(vshlq_r_s16(in_quarter, bits));
  for (int k = -2; k <= 4 && k < bits; ++k) {
    const mve_pred16_t has =
        vcmpneq_n_s16(vandq_s16(rest, vdupq_n_s16(static_cast<int16_t>(1 << (fraction + k)))), 0);
    result = vpselq_s16(vqrdmulhq_n_s16(result, kExpFactorsQ15[k + 2]), result, has);
  }
  if (bits > 5)
    result = vpselq_s16(vdupq_n_s16(0), result,
                        vcmpltq_n_s16(a, static_cast<int16_t>(-(32 << fraction))));
  return vpselq_s16(vdupq_n_s16(INT16_MAX), result, vcmpeqq_n_s16(a, 0));
}

inline int16x8_t double_reciprocal_q13_mve(int16x8_t a) {
  const int16x8_t half = vrhaddq_s16(a, vdupq_n_s16(INT16_MAX)), one = vdupq_n_s16(1 << 13);
  int16x8_t x = vaddq_n_s16(vqrdmulhq_n_s16(half, -k32Of17Q13), k48Of17Q13);
  for (int i = 0; i < 3; ++i)
    x = vaddq_s16(x, vqshlq_n_s16(vqrdmulhq_s16(x, vsubq_s16(one, vqrdmulhq_s16(half, x))), 2));
  return x;
}

inline int16x8_t logistic_q15_mve(int16x8_t v) {
  const int16x8_t below = vpselq_s16(vnegq_s16(v), v, vcmpgtq_n_s16(v, 0));
  const int16x8_t positive =
      vqshlq_n_s16(double_reciprocal_q13_mve(exp_of_negative_q15_mve(below, 3)), 1);
  const int16x8_t y =
      vpselq_s16(positive, vsubq_s16(vdupq_n_s16(INT16_MAX), positive), vcmpgtq_n_s16(v, 0));
  return vpselq_s16(vdupq_n_s16(1 << 14), y, vcmpeqq_n_s16(v, 0));
}

inline int16x8_t tanh_q15_mve(int16x8_t v, int bits) {
  const mve_pred16_t negative = vcmpltq_n_s16(v, 0);
  const int16x8_t quotient = double_reciprocal_q13_mve(
      exp_of_negative_q15_mve(vpselq_s16(v, vnegq_s16(v), negative), bits + 1));
  const int16x8_t of_magnitude = vqshlq_n_s16(vsubq_n_s16(quotient, 1 << 13), 2);
  return vpselq_s16(vdupq_n_s16(0), vpselq_s16(vnegq_s16(of_magnitude), of_magnitude, negative),
                    vcmpeqq_n_s16(v, 0));
}

}  // namespace deuteron
