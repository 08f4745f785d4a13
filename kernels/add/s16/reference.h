// SPDX-License-Identifier: Apache-2.0
// The addition of kernel.h in 64 bits. Host only, for tests.
#pragma once
#include "kernels/add/s16/kernel.h"

namespace deuteron {

inline int16_t add_s16_reference(const AddS16Args& a, int16_t x, int16_t other) {
  const int64_t sum = int64_t{x} * a.x_factor + int64_t{other} * a.other_factor;
  const int64_t divisor = int64_t{1} << a.shift, up = sum + divisor / 2;
  const int64_t v = up >= 0 ? up / divisor : -((-up + divisor - 1) / divisor);  // floor
  return static_cast<int16_t>(v < a.y_min ? a.y_min : v > a.y_max ? a.y_max : v);
}

}  // namespace deuteron
