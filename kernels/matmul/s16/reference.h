// SPDX-License-Identifier: Apache-2.0
// The product of kernel.h with divisions. Host only, for tests.
#pragma once
#include "kernels/matmul/s16/kernel.h"

namespace deuteron {

inline int64_t halves_up_by(int64_t v, int32_t shift) {
  const int64_t divisor = int64_t{1} << shift, up = v + divisor / 2;
  return up >= 0 ? up / divisor : -((-up + divisor - 1) / divisor);
}

// `sum`: of the products.
inline int16_t matmul_s16_reference(const MatmulS16Args& a, int64_t sum) {
  const int64_t v =
      halves_up_by(halves_up_by(halves_up_by(sum, a.first) * a.multiplier, 31), a.shift);
  return static_cast<int16_t>(v < a.y_min ? a.y_min : v > a.y_max ? a.y_max : v);
}

}  // namespace deuteron
