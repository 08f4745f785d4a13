// SPDX-License-Identifier: Apache-2.0
// Portable division: clamped before it is rounded, so that no float leaves the range of int32.
#include "kernels/div/kernel.h"

#include <limits>

namespace deuteron {
namespace {

template <class T>
void divide(const DivArgs& a, const T* x, const T* other, T* y) {
  const float low = static_cast<float>(std::numeric_limits<T>::min() - a.y_zero),
              high = static_cast<float>(std::numeric_limits<T>::max() - a.y_zero);
  for (int32_t i = 0; i < a.count; ++i) {
    const int32_t numerator = x[i] - a.x_zero, denominator = other[i] - a.other_zero;
    const float quotient =
        denominator == 0 ? 0.0f : static_cast<float>(numerator) / static_cast<float>(denominator);
    float v = quotient * a.scale;
    v = v < low ? low : v;
    v = v > high ? high : v;
    const int32_t whole = static_cast<int32_t>(v);
    const float rest = v - static_cast<float>(whole);  // exact
    y[i] = static_cast<T>(whole + (rest >= 0.5f ? 1 : 0) - (rest <= -0.5f ? 1 : 0) + a.y_zero);
  }
}

}  // namespace

void div_s8(const DivArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  divide(a, x, other, y);
}
void div_s16(const DivArgs& a, const int16_t* x, const int16_t* other, int16_t* y) {
  divide(a, x, other, y);
}

}  // namespace deuteron
