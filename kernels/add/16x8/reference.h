// SPDX-License-Identifier: Apache-2.0
// The sums of kernel.h in 64 bits. Host only, for tests.
#pragma once
#include <cstdlib>

#include "kernels/add/16x8/kernel.h"
#include "kernels/integer/requantize_reference.h"

namespace deuteron {

inline int16_t add_16x8_reference(const Add16x8Args& a, int16_t x, int16_t other) {
  const int64_t one = requantize_reference(int64_t{x} * 32768, a.x_multiplier, a.x_shift);
  const int64_t more =
      requantize_reference(int64_t{other} * 32768, std::abs(a.other_multiplier), a.other_shift);
  const int64_t v = requantize_reference(a.other_multiplier < 0 ? one - more : one + more,
                                         a.y_multiplier, a.y_shift);
  return static_cast<int16_t>(v < a.y_min ? a.y_min : v > a.y_max ? a.y_max : v);
}

inline int16_t shifted_add_16x8_reference(const ShiftedAdd16x8Args& a, int16_t x, int16_t other) {
  const int64_t v =
      divide_reference(x, a.x_shift) + a.sign * divide_reference(other, a.other_shift);
  return static_cast<int16_t>(v < a.y_min ? a.y_min : v > a.y_max ? a.y_max : v);
}

}  // namespace deuteron
