// SPDX-License-Identifier: Apache-2.0
// The quantization of kernel.h, slow and obvious. Host only, for tests.
#pragma once
#include <cmath>

#include "kernels/quantize/channels/kernel.h"

namespace deuteron {

inline int8_t quantize_channels_reference(const QuantizeChannelsArgs& a, float x, float shift,
                                          float factor) {
  // volatile: rounded to float32, whatever the compiler would like
  const volatile float sum = x + shift;
  const volatile float product = sum * factor;
  const double v =
      std::isnan(product) ? a.zero : std::nearbyint(static_cast<double>(product)) + a.zero;
  return static_cast<int8_t>(v < a.low ? a.low : v > a.high ? a.high : v);
}

}  // namespace deuteron
