// SPDX-License-Identifier: Apache-2.0
// The fully connected layer of kernel.h in its bias form, slow and obvious. Host only, for tests.
#pragma once
#include "kernels/integer/requantize_reference.h"
#include "kernels/linear/kernel.h"

namespace deuteron {

inline void linear_reference(const LinearArgs& a, const int8_t* x, const int8_t* weight,
                             const int32_t* bias, int8_t* y) {
  for (int64_t r = 0; r < a.rows; ++r)
    for (int64_t o = 0; o < a.out; ++o) {
      int64_t sum = bias ? bias[o] : 0;
      for (int64_t i = 0; i < a.in; ++i)
        sum += (x[r * a.in + i] + int64_t{a.x_offset}) *
               (weight[o * a.in + i] + int64_t{a.weight_offset});
      const int64_t v =
          wrap32_reference(requantize_reference(sum, a.multiplier, a.shift) + a.y_zero);
      y[r * a.out + o] = static_cast<int8_t>(v < a.y_min ? a.y_min : v > a.y_max ? a.y_max : v);
    }
}

}  // namespace deuteron
