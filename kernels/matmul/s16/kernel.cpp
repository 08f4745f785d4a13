// SPDX-License-Identifier: Apache-2.0
#include "kernels/matmul/s16/kernel.h"

#include "kernels/integer/halves_up.h"

namespace deuteron {

void matmul_s16(const MatmulS16Args& args, const int16_t* x, const int16_t* other, int16_t* y) {
  const MatmulS16Args a = args;  // for all the compiler knows, y might lie over the arguments
  const int64_t half = a.first == 0 ? 0 : int64_t{1} << (a.first - 1);
  for (int32_t b = 0; b < a.batch; ++b, other += a.columns * a.inner)
    for (int32_t m = 0; m < a.rows; ++m, x += a.inner) {
      const int16_t* column = other;
      for (int32_t n = 0; n < a.columns; ++n) {
        int64_t sum = half;
        for (int32_t k = 0; k < a.inner; ++k) sum += x[k] * *column++;
        const int32_t v = shift_halves_up(
            multiply_high(static_cast<int32_t>(sum >> a.first), a.multiplier), a.shift);
        *y++ = static_cast<int16_t>(clamp_to(v, a.y_min, a.y_max));
      }
    }
}

}  // namespace deuteron
