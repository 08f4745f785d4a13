// SPDX-License-Identifier: Apache-2.0
// Reciprocals in fixed point by Newton's method, bit-exact with gemmlowp's
// one_over_one_plus_x_for_x_in_0_1. Qm.n has n bits behind the point.
#pragma once
#include "kernels/common/one_copy.h"
#include "kernels/integer/inverse_root.h"

namespace deuteron {

// A step towards 1 / half, Q2.29.
DEUTERON_ONE_COPY inline int32_t nearer_to_reciprocal(int32_t x, int32_t half) {
  constexpr int32_t kOne = 1 << 29;
  return add_wrapping(x, shift_left_saturating(
                             multiply_high(x, subtract_wrapping(kOne, multiply_high(half, x))), 2));
}

// 1 / (1 + v) for v in [0, 1), Q0.31 to Q0.31: three steps from 48/17 - 32/17 d.
DEUTERON_ONE_COPY inline int32_t reciprocal_of_one_plus(int32_t v) {
  constexpr int32_t k48Over17 = 1515870810, kMinus32Over17 = -1010580540;  // Q2.29
  const int32_t half = v / 2 + (1 << 30);
  int32_t x = add_wrapping(k48Over17, multiply_high(half, kMinus32Over17));
  for (int k = 0; k < 3; ++k) x = nearer_to_reciprocal(x, half);
  return shift_left_saturating(x, 1);
}

}  // namespace deuteron
