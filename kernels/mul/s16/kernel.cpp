// SPDX-License-Identifier: Apache-2.0
#include "kernels/mul/s16/kernel.h"

#include "kernels/integer/halves_up.h"

namespace deuteron {

void mul_s16(const MulS16Args& args, const int16_t* x, const int16_t* other, int16_t* y) {
  const MulS16Args a = args;  // for all the compiler knows, y might lie over the arguments
  for (int32_t done = 0; done < a.count; done += a.period)
    for (int32_t i = 0; i < a.period; ++i) {
      const int32_t product =
          shift_halves_up(multiply_high(x[done + i] * other[i], a.multiplier), a.shift);
      y[done + i] = static_cast<int16_t>(clamp_to(product, a.y_min, a.y_max));
    }
}

}  // namespace deuteron
