// SPDX-License-Identifier: Apache-2.0
// The rescaling of kernel.h in 64 bits. Host only, for tests.
#pragma once
#include <cstdlib>

#include "kernels/integer/requantize_reference.h"
#include "kernels/requantize/16x8/kernel.h"

namespace deuteron {

inline int64_t rescale_16x8_reference(const Rescale16x8Args& a, int64_t x) {
  const int64_t v = x - a.x_zero, multiplier = v < 0 ? a.below_multiplier : a.multiplier;
  const int64_t scaled =
      requantize_reference(v, std::abs(multiplier), v < 0 ? a.below_shift : a.shift) *
      (multiplier < 0 ? -1 : 1);
  const int64_t y = wrap32_reference(scaled + a.y_zero);
  return y < a.y_min ? a.y_min : y > a.y_max ? a.y_max : y;
}

}  // namespace deuteron
