// SPDX-License-Identifier: Apache-2.0
// The reciprocal of a square root as a multiplier, bit-exact with TFLite's: five steps of Newton's
// method in fixed point, without a division. Source: TFLite kernels/internal/common.h,
// GetInvSqrtQuantizedMultiplierExp, and gemmlowp's FixedPoint<int32_t, 3>.
#pragma once
#include <cstdint>

#include "kernels/integer/requantize.h"

namespace deuteron {

// 1 / sqrt(v) ~= value * 2^(shift - 31), as requantize() takes them; shift is -16..0.
struct InverseRoot {
  int32_t value, shift;
};

inline constexpr int32_t kHalfThreeQ28 = (1 << 28) + (1 << 27), kHalfRootOfTwoQ31 = 1518500250;
inline constexpr int32_t kOneQ28 = 1 << 28;  // 3 bits before the point

inline int32_t shift_left_saturating(int32_t x, int bits) {
  const int32_t most = INT32_MAX >> bits;
  return x > most        ? INT32_MAX
         : x < -most - 1 ? INT32_MIN
                         : static_cast<int32_t>(static_cast<uint32_t>(x) << bits);
}

// 0 <= v; 0 counts as 1, of which the multiplier falls short by a bit.
inline InverseRoot inverse_root(int32_t v) {
  if (v <= 1) return {INT32_MAX, 0};
  int right = 11;
  for (; v >= 1 << 29; v /= 4) ++right;
  for (; v < 1 << 27; v *= 4) --right;
  const int32_t half = round_shift_right(v >> 1, 1);  // of a number from 1/4 to 1, Q28
  int32_t x = kOneQ28;
  for (int i = 0; i < 5; ++i) {
    const int32_t cube = shift_left_saturating(multiply_high(multiply_high(x, x), x), 6);
    x = shift_left_saturating(multiply_high(kHalfThreeQ28, x) - multiply_high(half, cube), 3);
  }
  x = multiply_high(x, kHalfRootOfTwoQ31);
  return right < 0 ? InverseRoot{static_cast<int32_t>(static_cast<uint32_t>(x) << -right), 0}
                   : InverseRoot{x, -right};
}

}  // namespace deuteron
