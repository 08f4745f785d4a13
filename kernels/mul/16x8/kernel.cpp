// SPDX-License-Identifier: Apache-2.0
#include "kernels/mul/16x8/kernel.h"

#include "kernels/integer/requantize.h"

namespace deuteron {

void mul_16x8(const Mul16x8Args& args, const int16_t* x, const int16_t* other, int16_t* y) {
  const Mul16x8Args a = args;  // for all the compiler knows, y might lie over the arguments
  for (int32_t i = 0; i < a.count; ++i)
    y[i] = static_cast<int16_t>(
        clamp_to(requantize(x[i] * other[i], a.multiplier, a.shift), a.y_min, a.y_max));
}

}  // namespace deuteron
