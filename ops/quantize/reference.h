// The quantization of kernel.h, slow and obvious. Host only, for tests.
#pragma once
#include <cmath>

#include "ops/quantize/kernel.h"

namespace deuteron {

template <class T>
void quantize_reference(const QuantizeArgs& a, const float* x, T* y) {
  for (int64_t i = 0; i < a.count; ++i) {
    const volatile float product = x[i] * a.reciprocal;  // volatile: rounded to float32, whatever the compiler would like
    const double v = std::isnan(product) ? a.zero : std::nearbyint(static_cast<double>(product)) + a.zero;
    y[i] = static_cast<T>(v < a.low ? a.low : v > a.high ? a.high : v);
  }
}

}  // namespace deuteron
