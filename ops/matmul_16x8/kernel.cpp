#include "ops/matmul_16x8/kernel.h"

#include "ops/integer/requantize.h"
#include "ops/integer/sum_16x8.h"

namespace deuteron {

void matmul_16x8(const Matmul16x8Args& args, const int16_t* x, const int16_t* other, int16_t* y) {
  const Matmul16x8Args a = args;  // for all the compiler knows, y might lie over the arguments
  for (int32_t b = 0; b < a.batch; ++b, other += a.columns * a.inner)
    for (int32_t m = 0; m < a.rows; ++m, x += a.inner) {
      const int16_t* by = other;
      for (int32_t n = 0; n < a.columns; ++n, by += a.inner) {
        int64_t sum = 0;
        for (int32_t k = 0; k < a.inner; ++k) sum += x[k] * by[k];
        *y++ = static_cast<int16_t>(clamp_to(requantize_16x8(sum, a.multiplier, a.shift), a.y_min, a.y_max));
      }
    }
}

}  // namespace deuteron
