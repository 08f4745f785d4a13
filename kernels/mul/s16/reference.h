// SPDX-License-Identifier: Apache-2.0
// The multiplication of kernel.h in 64 bits. Host only, for tests.
#pragma once
#include "kernels/mul/s16/kernel.h"

namespace deuteron {

inline int16_t mul_s16_reference(const MulS16Args& a, int16_t x, int16_t other) {
  const int64_t scaled = (int64_t{x} * other * a.multiplier + (int64_t{1} << 30)) >> 31;
  const int64_t v = a.shift == 0 ? scaled : (scaled + (int64_t{1} << (a.shift - 1))) >> a.shift;
  return static_cast<int16_t>(v < a.y_min ? a.y_min : v > a.y_max ? a.y_max : v);
}

}  // namespace deuteron
