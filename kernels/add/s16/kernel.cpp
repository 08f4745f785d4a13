// SPDX-License-Identifier: Apache-2.0
#include "kernels/add/s16/kernel.h"

#include "kernels/integer/requantize.h"

namespace deuteron {

void add_s16(const AddS16Args& a, const int16_t* x, const int16_t* other, int16_t* y) {
  const int32_t half = int32_t{1} << (a.shift - 1);
  for (int32_t i = 0; i < a.count; ++i) {
    const int32_t sum = x[i] * a.x_factor + other[i] * a.other_factor + half;
    y[i] = static_cast<int16_t>(clamp_to(sum >> a.shift, a.y_min, a.y_max));
  }
}

}  // namespace deuteron
