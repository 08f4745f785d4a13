// SPDX-License-Identifier: Apache-2.0
// The softmax of kernel.h, slow: the definition of gemmlowp's fixed-point functions in 64-bit
// integers, sharing nothing with the kernel; and the real softmax in double. Host only, for tests.
#pragma once
#include <algorithm>
#include <cmath>

#include "kernels/integer/requantize_reference.h"
#include "kernels/softmax/kernel.h"

namespace deuteron {

inline int64_t floor_divide_reference(int64_t v, int64_t d) { return v / d - (v % d < 0 ? 1 : 0); }
// Q0.31 product, halves up.
inline int64_t product_reference(int64_t a, int64_t b) {
  return std::min<int64_t>(floor_divide_reference(a * b + (int64_t{1} << 30), int64_t{1} << 31),
                           INT32_MAX);
}
inline int64_t saturate_reference(int64_t v) {
  return v > INT32_MAX ? INT32_MAX : v < -int64_t{INT32_MAX} ? INT32_MIN : v;
}

inline int64_t exp_reference(int64_t v) {  // Q5.26, not positive, to Q0.31
  if (v == 0) return INT32_MAX;
  const int64_t quarter = int64_t{1} << 24, quarters = floor_divide_reference(v, quarter);
  const int64_t part = v - quarters * quarter -
                       quarter;  // -quarter..-1, so that v = part + (quarters + 1) * quarter
  const int64_t x = part * 32 + (int64_t{1} << 28), x2 = product_reference(x, x),
                x3 = product_reference(x2, x), x4 = product_reference(x2, x2);
  const int64_t inner = product_reference(divide_reference(x4, 2) + x3, 715827883) + x2;
  int64_t e = 1895147668 + product_reference(1895147668, x + divide_reference(inner, 1));
  const int64_t factors[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
  for (int k = 0; k < 7; ++k)
    if ((-(quarters + 1) >> k) % 2 != 0) e = product_reference(e, factors[k]);
  return e;
}

inline int64_t reciprocal_reference(int64_t v) {  // of 1 + v, Q0.31
  const int64_t half = (v + (int64_t{1} << 31)) / 2;
  int64_t x = 1515870810 + product_reference(half, -1010580540);
  for (int k = 0; k < 3; ++k)
    x += saturate_reference(4 *
                            product_reference(x, (int64_t{1} << 29) - product_reference(half, x)));
  return saturate_reference(2 * x);
}

template <class Y>  // int8_t, or int16_t: 2^8 or 2^16 steps from 0 to 1
void softmax_reference(const SoftmaxArgs& a, const int8_t* x, Y* y) {
  const int64_t steps = int64_t{1} << (8 * sizeof(Y)), least = -steps / 2;
  const int bits = sizeof(Y) == 1 ? 35 : 27;
  for (int64_t r = 0; r < a.rows; ++r, x += a.columns, y += a.columns) {
    const int64_t most = *std::max_element(x, x + a.columns);
    const auto e = [&](int64_t q) {
      return exp_reference(product_reference((q - most) * (int64_t{1} << a.shift), a.multiplier));
    };
    int64_t sum = 0;
    for (int64_t i = 0; i < a.columns; ++i)
      if (x[i] - most >= a.diff_min) sum += divide_reference(e(x[i]), 12);
    int headroom = 0;  // of sum in 32 bits; negative when it needs more
    while (sum >= int64_t{1} << (32 - headroom)) --headroom;
    while (headroom >= 0 && sum << (headroom + 1) < int64_t{1} << 32) ++headroom;
    const int64_t mantissa = headroom >= 0 ? sum << headroom : sum >> -headroom;
    const int64_t scale = reciprocal_reference(mantissa - (int64_t{1} << 31));
    for (int64_t i = 0; i < a.columns; ++i) {
      const bool small = x[i] - most < a.diff_min;
      const int64_t rounded =
          small ? 0 : divide_reference(product_reference(scale, e(x[i])), bits - headroom);
      y[i] = static_cast<Y>(std::clamp<int64_t>(rounded + least, least, -least - 1));
    }
  }
}

// The same row in real numbers, in steps of 1/256 above -128, before rounding.
inline void softmax_real(int64_t columns, double scale, const int8_t* x, double* y) {
  double sum = 0;
  const double most = *std::max_element(x, x + columns);
  for (int64_t i = 0; i < columns; ++i) sum += std::exp(scale * (x[i] - most));
  for (int64_t i = 0; i < columns; ++i) y[i] = 256 * std::exp(scale * (x[i] - most)) / sum - 128;
}

}  // namespace deuteron
