// SPDX-License-Identifier: Apache-2.0
// Portable running sums, line by line.
#include "kernels/cumsum/kernel.h"

#include "kernels/integer/requantize.h"

namespace deuteron {

void cumsum_s8(const CumsumArgs& a, const int8_t* x, int8_t* y) {
  const int32_t slice = a.length * a.inner;
  for (int32_t o = 0; o < a.outer; ++o, x += slice, y += slice)
    for (int32_t i = 0; i < a.inner; ++i) {
      int32_t sum = 0;
      for (int32_t at = i; at < slice; at += a.inner) {
        sum += x[at] - a.x_zero;
        y[at] = requantize_to_s8(static_cast<uint32_t>(sum), a.multiplier, a.shift, a.y_zero, -128,
                                 127);
      }
    }
}

}  // namespace deuteron
