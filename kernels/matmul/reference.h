// SPDX-License-Identifier: Apache-2.0
// The product of kernel.h, slow and obvious. Host only, for tests.
#pragma once
#include "kernels/integer/requantize_reference.h"
#include "kernels/matmul/kernel.h"

namespace deuteron {

inline void matmul_reference(const MatmulArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  for (int64_t b = 0; b < a.batch; ++b)
    for (int64_t m = 0; m < a.rows; ++m)
      for (int64_t n = 0; n < a.columns; ++n) {
        int64_t sum = 0;
        for (int64_t k = 0; k < a.inner; ++k)
          sum += (x[(b * a.rows + m) * a.inner + k] + int64_t{a.x_offset}) *
                 (other[(b * a.columns + n) * a.inner + k] + int64_t{a.other_offset});
        const int64_t v =
            wrap32_reference(requantize_reference(sum, a.multiplier, a.shift) + a.y_zero);
        y[(b * a.rows + m) * a.columns + n] = static_cast<int8_t>(v < -128  ? -128
                                                                  : v > 127 ? 127
                                                                            : v);
      }
}

}  // namespace deuteron
