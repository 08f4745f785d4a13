// SPDX-License-Identifier: Apache-2.0
// The multiplication of kernel.h, slow and obvious. Host only, for tests.
#pragma once
#include "kernels/integer/requantize_reference.h"
#include "kernels/mul/kernel.h"

namespace deuteron {

inline void mul_reference(const MulArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  for (int64_t i = 0; i < a.count; ++i) {
    const int64_t product =
        (int64_t{x[i]} - a.x_zero) * (int64_t{other[i % a.period]} - a.other_zero);
    const int64_t r =
        wrap32_reference(requantize_reference(product, a.multiplier, a.shift) + a.y_zero);
    y[i] = static_cast<int8_t>(r < -128 ? -128 : r > 127 ? 127 : r);
  }
}

}  // namespace deuteron
