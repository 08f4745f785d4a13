// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduce/prod_16x8/kernel.h"

#include "kernels/integer/requantize.h"

namespace deuteron {

void prod_16x8(const Prod16x8Args& args, const int16_t* x, int16_t* y) {
  const Prod16x8Args a = args;  // for all the compiler knows, y might lie over the arguments
  const int64_t multiplier = a.multiplier < 0x7fff0000 ? (a.multiplier + (1 << 15)) >> 16 : 0x7fff;
  const int right = 15 - a.shift;
  const int64_t half = int64_t{1} << (right - 1);
  const auto scaled = [&](int64_t v) {
    return static_cast<int32_t>((v * multiplier + half) >> right);
  };
  for (int32_t o = 0; o < a.outer; ++o, x += a.slice * a.inner)
    for (int32_t i = 0; i < a.inner; ++i) {
      int32_t product = x[i];
      for (int32_t k = 1; k < a.slice; ++k) product = scaled(int64_t{product} * x[k * a.inner + i]);
      *y++ = static_cast<int16_t>(clamp_to(scaled(product), -32768, 32767));
    }
}

}  // namespace deuteron
