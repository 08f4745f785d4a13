// SPDX-License-Identifier: Apache-2.0
// The product of kernel.h in 64 bits. Host only, for tests.
#pragma once
#include "kernels/integer/requantize_reference.h"
#include "kernels/mul/16x8/kernel.h"

namespace deuteron {

inline int16_t mul_16x8_reference(const Mul16x8Args& a, int16_t x, int16_t other) {
  const int64_t v = requantize_reference(int64_t{x} * other, a.multiplier, a.shift);
  return static_cast<int16_t>(v < a.y_min ? a.y_min : v > a.y_max ? a.y_max : v);
}

}  // namespace deuteron
