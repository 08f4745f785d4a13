// SPDX-License-Identifier: Apache-2.0
// Portable dequantization.
#include "kernels/dequantize/kernel.h"

#include "kernels/common/host_clones.h"

namespace deuteron {
namespace {

template <class T>
void dequantize(const DequantizeArgs& a, const T* x, float* y) {
  for (int32_t i = 0; i < a.count; ++i) y[i] = static_cast<float>(x[i] - a.zero) * a.scale;
}

}  // namespace

DEUTERON_HOST_CLONES void dequantize_s8(const DequantizeArgs& a, const int8_t* x, float* y) {
  dequantize(a, x, y);
}
void dequantize_s16(const DequantizeArgs& a, const int16_t* x, float* y) { dequantize(a, x, y); }

}  // namespace deuteron
