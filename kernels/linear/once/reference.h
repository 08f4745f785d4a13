// SPDX-License-Identifier: Apache-2.0
// The contract of kernel.h, rounding in 64 bits. Host only, for tests.
#pragma once
#include <algorithm>

#include "kernels/integer/requantize_reference.h"
#include "kernels/linear/once/kernel.h"

namespace deuteron {

inline int64_t once_reference(int64_t v, int32_t multiplier, int32_t shift) {
  if (shift > 0) v = wrap32_reference(v * (int64_t{1} << shift));  // as the other kernels do
  const int32_t by = 31 - std::min(shift, 0);
  return (v * multiplier + (int64_t{1} << (by - 1))) >> by;
}

inline void linear_once_reference(const LinearOnceArgs& a, const int8_t* x, const int8_t* weight,
                                  const int32_t* first, const int32_t* multiplier,
                                  const int32_t* shift, int8_t* y) {
  for (int32_t r = 0; r < a.rows; ++r)
    for (int32_t o = 0; o < a.outputs; ++o) {
      int64_t sum = first[o];
      for (int32_t i = 0; i < a.inputs; ++i) sum += x[r * a.inputs + i] * weight[o * a.inputs + i];
      const int64_t v = wrap32_reference(
          once_reference(wrap32_reference(sum), multiplier[o], shift[o]) + a.y_zero);
      y[r * a.outputs + o] = static_cast<int8_t>(std::clamp<int64_t>(v, a.y_min, a.y_max));
    }
}

}  // namespace deuteron
