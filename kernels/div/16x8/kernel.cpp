// SPDX-License-Identifier: Apache-2.0
#include "kernels/div/16x8/kernel.h"

#include "kernels/integer/reciprocal.h"
#include "kernels/integer/requantize.h"

namespace deuteron {
namespace {

struct Reciprocal {
  int32_t value, bits;  // value * 2^-(31 + bits)
};

// 0 < d. Source: TFLite kernels/internal/common.h, GetReciprocal.
Reciprocal reciprocal_of(int32_t d) {
  const int zeros = __builtin_clz(static_cast<uint32_t>(d)) + 1;  // d's highest bit falls off
  const uint32_t fraction = zeros > 31 ? 0 : static_cast<uint32_t>(d) << zeros >> 1;
  return {reciprocal_of_one_plus(static_cast<int32_t>(fraction)), 32 - zeros};
}

int32_t quotient(const Div16x8Args& a, int32_t x, int32_t d) {
  if (x == 0 || d == 0) return 0;
  if (d < 0) x = -x, d = -d;
  const Reciprocal r = reciprocal_of(d);
  const int doubled = __builtin_clz(static_cast<uint32_t>(x < 0 ? ~x : x) << 1 | 1);  // 31 of -1
  const int right = r.bits + doubled - a.shift;
  if (right > 31) return 0;
  const int32_t unscaled =
      multiply_high(static_cast<int32_t>(static_cast<uint32_t>(x) << doubled), r.value);
  return round_shift_right(multiply_high(unscaled, a.multiplier), right);
}

}  // namespace

void div_16x8(const Div16x8Args& args, const int16_t* x, const int16_t* other, int16_t* y) {
  const Div16x8Args a = args;  // for all the compiler knows, y might lie over the arguments
  for (int32_t i = 0; i < a.count; ++i)
    y[i] = static_cast<int16_t>(clamp_to(quotient(a, x[i], other[i]), a.y_min, a.y_max));
}

}  // namespace deuteron
