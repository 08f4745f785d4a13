// SPDX-License-Identifier: Apache-2.0
#include "kernels/unary/sqrt_16x8/kernel.h"

#include <cmath>

namespace deuteron {

void sqrt_16x8(const Sqrt16x8Args& args, const int16_t* x, int16_t* y) {
  const Sqrt16x8Args a = args;  // for all the compiler knows, y might lie over the arguments
  for (int32_t i = 0; i < a.count; ++i) {
    const float root =
        x[i] < 0 ? 0.0f : std::sqrt(a.x_scale * static_cast<float>(x[i])) / a.y_scale;
    y[i] = root < 32767.0f
               ? static_cast<int16_t>(root)
               : int16_t{32767};  // held before it is cut off: no float leaves the range of int16
  }
}

}  // namespace deuteron
