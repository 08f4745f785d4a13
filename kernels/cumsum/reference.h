// SPDX-License-Identifier: Apache-2.0
// The running sums of kernel.h, each from its beginning. Host only, for tests.
#pragma once
#include <algorithm>

#include "kernels/cumsum/kernel.h"
#include "kernels/integer/requantize_reference.h"

namespace deuteron {

inline void cumsum_reference(const CumsumArgs& a, const int8_t* x, int8_t* y) {
  for (int64_t o = 0; o < a.outer; ++o)
    for (int64_t k = 0; k < a.length; ++k)
      for (int64_t i = 0; i < a.inner; ++i) {
        int64_t sum = 0;
        for (int64_t j = 0; j <= k; ++j) sum += x[(o * a.length + j) * a.inner + i] - a.x_zero;
        const int64_t v = a.y_zero + requantize_reference(sum, a.multiplier, a.shift);
        y[(o * a.length + k) * a.inner + i] =
            static_cast<int8_t>(std::clamp<int64_t>(v, -128, 127));
      }
}

}  // namespace deuteron
