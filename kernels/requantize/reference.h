// SPDX-License-Identifier: Apache-2.0
// The formula of kernel.h with divisions, in 64 bits. Host only, for tests.
#pragma once
#include <algorithm>

#include "kernels/requantize/kernel.h"

namespace deuteron {

inline int64_t halves_up(int64_t v, int64_t divisor) {
  const int64_t up = v + divisor / 2;
  return up >= 0 ? up / divisor : -((-up + divisor - 1) / divisor);
}

// steps: 1 of int16, kRequantizeSteps of int8.
inline int64_t requantize_reference(const RequantizeArgs& a, int64_t steps, int64_t x) {
  const int64_t u = halves_up((x - a.x_zero) * steps * a.factor, 32768);
  const int64_t v =
      a.shift < 0 ? halves_up(u, int64_t{1} << -a.shift) : u * (int64_t{1} << a.shift);
  return std::clamp<int64_t>(std::clamp<int64_t>(v, -32768, 32767) + a.y_zero, a.y_min, a.y_max);
}

}  // namespace deuteron
