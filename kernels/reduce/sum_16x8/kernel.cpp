// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduce/sum_16x8/kernel.h"

#include "kernels/integer/requantize.h"

namespace deuteron {

void sum_16x8(const Sum16x8Args& args, const int16_t* x, int16_t* y) {
  const Sum16x8Args a = args;  // for all the compiler knows, y might lie over the arguments
  for (int32_t o = 0; o < a.outer; ++o, x += a.slice * a.inner)
    for (int32_t i = 0; i < a.inner; ++i) {
      int32_t sum = 0;
      for (int32_t k = 0; k < a.slice; ++k) sum += x[k * a.inner + i];
      *y++ = static_cast<int16_t>(clamp_to(requantize(sum, a.multiplier, a.shift), -32768, 32767));
    }
}

}  // namespace deuteron
