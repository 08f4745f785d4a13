// SPDX-License-Identifier: Apache-2.0
// The division of kernel.h, each float32 operation forced to round on its own. Host only, for
// tests.
#pragma once
#include <cmath>
#include <limits>

#include "kernels/div/kernel.h"

namespace deuteron {

template <class T>
void div_reference(const DivArgs& a, const T* x, const T* other, T* y) {
  for (int64_t i = 0; i < a.count; ++i) {
    const volatile float numerator = static_cast<float>(x[i] - a.x_zero),
                         denominator = static_cast<float>(other[i] - a.other_zero);
    const volatile float quotient = denominator == 0 ? 0 : numerator / denominator;
    const volatile float scaled = quotient * a.scale;
    const volatile float rounded = std::round(scaled);
    const volatile float v = rounded + static_cast<float>(a.y_zero);
    const float low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
    y[i] = static_cast<T>(v < low ? low : v > high ? high : v);
  }
}

}  // namespace deuteron
