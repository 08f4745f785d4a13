// SPDX-License-Identifier: Apache-2.0
// The sums of kernel.h, slow and obvious. Host only, for tests.
#pragma once
#include <algorithm>

#include "kernels/integer/requantize_reference.h"
#include "kernels/reduce/kernel.h"

namespace deuteron {

inline void sum_reference(const SumArgs& a, const int8_t* x, int8_t* y) {
  for (int64_t o = 0; o < a.outer; ++o)
    for (int64_t i = 0; i < a.inner; ++i) {
      int64_t sum = 0;
      for (int64_t k = 0; k < a.slice; ++k) sum += x[(o * a.slice + k) * a.inner + i] - a.x_zero;
      const int64_t v = a.y_zero + requantize_reference(sum, a.multiplier, a.shift);
      y[o * a.inner + i] = static_cast<int8_t>(std::clamp<int64_t>(v, a.low, a.high));
    }
}

}  // namespace deuteron
