// SPDX-License-Identifier: Apache-2.0
// The quantization of kernel.h, slow and obvious. Host only, for tests.
#pragma once
#include <cmath>

#include "kernels/quantize/kernel.h"

namespace deuteron {

template <class T>
void quantize_reference(const QuantizeArgs& a, const float* x, T* y) {
  for (int64_t i = 0; i < a.count; ++i) {
    // volatile: rounded to float32, whatever the compiler would like
    const volatile float product = x[i] * a.reciprocal;
    const double v =
        std::isnan(product) ? a.zero : std::nearbyint(static_cast<double>(product)) + a.zero;
    y[i] = static_cast<T>(v < a.low ? a.low : v > a.high ? a.high : v);
  }
}

// With the M-profile Vector Extension.
inline void quantize_mve_reference(const QuantizeArgs& a, const float* x, int8_t* y) {
  const auto flushed = [](float v) {
    return std::fabs(v) < 0x1p-126f ? std::copysign(0.0f, v) : v;
  };
  quantize_reference(a, x, y);
  for (int64_t i = 0; i < a.count / 16 * 16; ++i) {
    const float product = std::fmaf(flushed(x[i]), flushed(a.reciprocal), 0x1.8p23f) - 0x1.8p23f;
    const double v = std::isnan(product) ? a.zero : static_cast<double>(product) + a.zero;
    y[i] = static_cast<int8_t>(v < a.low ? a.low : v > a.high ? a.high : v);
  }
}

}  // namespace deuteron
