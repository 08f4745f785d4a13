// SPDX-License-Identifier: Apache-2.0
// The softmax of kernel.h with divisions, and in real numbers. Host only, for tests.
#pragma once
#include <cmath>
#include <vector>

#include "kernels/softmax/exponential.h"
#include "kernels/softmax/s16/kernel.h"

namespace deuteron {

// In 128 bits: 2^61 * e / S without a reciprocal of its own would round elsewhere, so the formula's
// stands here, written as it is stated.
inline void softmax_s16_reference(const SoftmaxArgs& a, const int16_t* x, int16_t* y) {
  for (int32_t r = 0; r < a.rows; ++r, x += a.columns, y += a.columns) {
    int64_t most = x[0];
    for (int32_t i = 1; i < a.columns; ++i) most = std::max<int64_t>(most, x[i]);
    std::vector<__int128> e;
    __int128 sum = 0;
    for (int32_t i = 0; i < a.columns; ++i) {
      const int64_t d = x[i] - most, scaled = d * (int64_t{1} << a.shift);
      const auto half_up = [](__int128 v, int32_t shift) {
        return (v + (__int128{1} << (shift - 1))) >> shift;
      };
      e.push_back(d < a.diff_min ? 0
                                 : q31::exp_of_negative(static_cast<int32_t>(
                                       half_up(__int128{scaled} * a.multiplier, 31))));
      sum += e.back();
    }
    int32_t k = 0;
    while (sum / (__int128{1} << k) >= __int128{1} << 31) ++k;
    const __int128 divisor = sum >> k, reciprocal = ((__int128{1} << 61) + divisor / 2) / divisor;
    for (int32_t i = 0; i < a.columns; ++i)
      y[i] = static_cast<int16_t>(std::min<__int128>(
          (e[static_cast<size_t>(i)] * reciprocal + (__int128{1} << (45 + k))) >> (46 + k), 32767));
  }
}

// Of one row of steps, in parts of 1.
inline std::vector<double> softmax_s16_exact(const std::vector<int16_t>& x, double scale) {
  double most = -1e9, sum = 0;
  for (const int16_t v : x) most = v > most ? v : most;
  std::vector<double> y;
  for (const int16_t v : x) y.push_back(std::exp((v - most) * scale)), sum += y.back();
  for (double& v : y) v /= sum;
  return y;
}

}  // namespace deuteron
