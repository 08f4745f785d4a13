// SPDX-License-Identifier: Apache-2.0
// The addition of kernel.h, slow and obvious. Host only, for tests.
#pragma once
#include "kernels/add/kernel.h"
#include "kernels/integer/requantize_reference.h"

namespace deuteron {

inline void add_reference(const AddArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  for (int64_t i = 0; i < a.count; ++i) {
    const int64_t u =
        requantize_reference((int64_t{x[i]} - a.x.zero) * 1048576, a.x.multiplier, a.x.shift);
    const int64_t v = requantize_reference((int64_t{other[i % a.period]} - a.other.zero) * 1048576,
                                           a.other.multiplier, a.other.shift);
    const int64_t r =
        wrap32_reference(requantize_reference(u + v, a.y.multiplier, a.y.shift) + a.y.zero);
    y[i] = static_cast<int8_t>(r < a.y_min ? a.y_min : r > a.y_max ? a.y_max : r);
  }
}

}  // namespace deuteron
