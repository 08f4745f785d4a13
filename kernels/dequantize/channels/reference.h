// SPDX-License-Identifier: Apache-2.0
// The dequantization of kernel.h, slow and obvious. Host only, for tests.
#pragma once
#include "kernels/dequantize/channels/kernel.h"

namespace deuteron {

inline float dequantize_channels_reference(int8_t x, float shift, float factor) {
  const volatile float sum =
      static_cast<float>(x) +
      shift;  // volatile: rounded to float32, whatever the compiler would like
  return sum * factor;
}

}  // namespace deuteron
