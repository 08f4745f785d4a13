// SPDX-License-Identifier: Apache-2.0
// The quotient of kernel.h in 64 bits, with gemmlowp's operations under their names. Host only, for
// tests.
#pragma once
#include <algorithm>
#include <cstdlib>

#include "kernels/div/16x8/kernel.h"
#include "kernels/integer/requantize_reference.h"

namespace deuteron {

// SaturatingRoundingDoublingHighMul: a * b / 2^31 to nearest, ties up.
inline int64_t doubling_high_mul_reference(int64_t a, int64_t b) {
  const int64_t product = a * b + (int64_t{1} << 30), d = int64_t{1} << 31;
  return product / d - (product % d < 0 ? 1 : 0);
}
inline int64_t rescale_reference(int64_t v, int bits) {
  return std::clamp<int64_t>(v * (int64_t{1} << bits), INT32_MIN, INT32_MAX);
}

inline int64_t one_over_one_plus_reference(int64_t a) {
  const int64_t half_denominator = (a + INT32_MAX + 1) / 2;
  int64_t x = 1515870810 + doubling_high_mul_reference(half_denominator, -1010580540);
  for (int i = 0; i < 3; ++i) {
    const int64_t rest = (int64_t{1} << 29) - doubling_high_mul_reference(half_denominator, x);
    x += rescale_reference(doubling_high_mul_reference(x, rest), 2);
  }
  return rescale_reference(x, 1);
}

inline int16_t div_16x8_reference(const Div16x8Args& a, int64_t x, int64_t other) {
  if (x == 0 || other == 0) return static_cast<int16_t>(std::clamp(0, a.y_min, a.y_max));
  if (other < 0) x = -x, other = -other;
  int bits = 0, doubled = 0;
  while (other >> (bits + 1) != 0) ++bits;
  const int64_t inverse = one_over_one_plus_reference((other << (31 - bits)) - (int64_t{1} << 31));
  for (; x != 0 && 2 * x >= INT32_MIN && 2 * x <= INT32_MAX; x *= 2) ++doubled;
  // of a number of 32 bits nothing is left there
  const int right = std::min(bits + doubled - a.shift, 40);
  const int64_t product =
      doubling_high_mul_reference(doubling_high_mul_reference(x, inverse), a.multiplier);
  return static_cast<int16_t>(
      std::clamp<int64_t>(divide_reference(product, right), a.y_min, a.y_max));
}

}  // namespace deuteron
