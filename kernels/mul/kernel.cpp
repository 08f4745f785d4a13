// SPDX-License-Identifier: Apache-2.0
// Portable multiplication.
#include "kernels/mul/kernel.h"

#include "kernels/common/host_clones.h"

#include "kernels/integer/requantize.h"

namespace deuteron {

DEUTERON_HOST_CLONES void mul_s8(const MulArgs& a, const int8_t* x, const int8_t* other,
                                 int8_t* y) {
  for (int32_t done = 0; done < a.count; done += a.period)
    for (int32_t i = 0; i < a.period; ++i) {
      const int32_t product = (x[done + i] - a.x_zero) * (other[i] - a.other_zero);
      y[done + i] = requantize_to_s8(static_cast<uint32_t>(product), a.multiplier, a.shift,
                                     a.y_zero, -128, 127);
    }
}

}  // namespace deuteron
