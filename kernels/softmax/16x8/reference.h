// SPDX-License-Identifier: Apache-2.0
// The softmax of kernel.h in 64 bits with divisions. Host only, for tests.
#pragma once
#include <algorithm>
#include <vector>

#include "kernels/integer/requantize_reference.h"
#include "kernels/softmax/16x8/kernel.h"

namespace deuteron {

inline int64_t line_reference(const int16_t* table, int64_t v) {
  const int64_t at = v + 32768, k = at / 128, slope = table[k + 1] - table[k],
                up = slope * (at % 128) + 64;
  return static_cast<int16_t>(table[k] + up / 128 - (up % 128 < 0 ? 1 : 0));
}

inline void softmax_16x8_reference(const Softmax16x8Args& a, const int16_t* x,
                                   const int16_t* exp_table, const int16_t* reciprocal_table,
                                   int16_t* y) {
  const auto int16_of = [](int64_t v) { return std::clamp<int64_t>(v, -32768, 32767); };
  for (int32_t r = 0; r < a.rows; ++r, x += a.columns, y += a.columns) {
    const int64_t most = *std::max_element(x, x + a.columns);
    std::vector<int64_t> e;
    int64_t sum = 0;
    for (int32_t i = 0; i < a.columns; ++i) {
      e.push_back(line_reference(
          exp_table, int16_of(wrap32_reference(
                         requantize_reference(x[i] - most, a.multiplier, a.shift) + 32767))));
      sum += e.back();
    }
    sum = std::max<int64_t>(sum, 2);
    int bits = 0;  // of the sum
    while (sum >> bits > 0) ++bits;
    const int64_t normal = (sum << (31 - bits)) + (1 << 13);
    const int64_t reciprocal =
        line_reference(reciprocal_table, int16_of(normal / (1 << 14) - 3 * 32768));
    for (int32_t i = 0; i < a.columns; ++i) {
      const int64_t one = int64_t{1} << (bits - 1),
                    v = e[static_cast<size_t>(i)] * reciprocal + one / 2;
      y[i] = static_cast<int16_t>(std::clamp<int64_t>(v / one - (v % one < 0 ? 1 : 0), 0, 32767));
    }
  }
}

}  // namespace deuteron
