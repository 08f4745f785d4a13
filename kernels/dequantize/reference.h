// SPDX-License-Identifier: Apache-2.0
// The dequantization of kernel.h: the exact product, rounded once. Host only, for tests.
#pragma once
#include "kernels/dequantize/kernel.h"

namespace deuteron {

template <class T>
void dequantize_reference(const DequantizeArgs& a, const T* x, float* y) {
  for (int64_t i = 0; i < a.count; ++i)
    y[i] = static_cast<float>((static_cast<double>(x[i]) - a.zero) * static_cast<double>(a.scale));
}

}  // namespace deuteron
