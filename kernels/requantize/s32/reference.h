// SPDX-License-Identifier: Apache-2.0
// The rescaling of kernel.h in 64 bits. Host only, for tests.
#pragma once
#include <algorithm>

#include "kernels/integer/requantize_reference.h"
#include "kernels/requantize/s32/kernel.h"

namespace deuteron {

inline int64_t rescale_s32_reference(const RescaleS32Args& a, int64_t x, int bits) {
  const int64_t most = (int64_t{1} << (bits - 1)) - 1;
  return std::clamp(
      wrap32_reference(requantize_reference(x - a.x_zero, a.multiplier, a.shift) + a.y_zero),
      -most - 1, most);
}

}  // namespace deuteron
