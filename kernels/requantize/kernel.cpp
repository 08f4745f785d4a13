// SPDX-License-Identifier: Apache-2.0
#include "kernels/requantize/kernel.h"

#include "kernels/common/host_clones.h"
#include "kernels/integer/requantize.h"

namespace deuteron {
namespace {

// A loop for each direction of the shift: the numbers of both at once do not fit the registers of a
// small core.
template <class From, class To>
void requantize_steps(const RequantizeArgs& a, int32_t steps, const From* x, To* y) {
  const int32_t zero = a.x_zero, factor = a.factor * steps, y_zero = a.y_zero, low = a.y_min,
                high = a.y_max, count = a.count;
  constexpr int32_t kHalf = 1 << 14;
  if (a.shift <= 0) {
    const int32_t right = -a.shift, half = (int32_t{1} << right) >> 1;
    for (int32_t i = 0; i < count; ++i) {
      const int32_t u = ((x[i] - zero) * factor + kHalf) >> 15;
      y[i] = static_cast<To>(clamp_to(((u + half) >> right) + y_zero, low, high));
    }
  } else {
    const int32_t left = a.shift;
    for (int32_t i = 0; i < count; ++i) {
      const int32_t u = ((x[i] - zero) * factor + kHalf) >> 15;
      y[i] =
          static_cast<To>(clamp_to(clamp_to(u * (1 << left), -32768, 32767) + y_zero, low, high));
    }
  }
}

// Steps of int8 as they are, times kRequantizeSteps.
void widen_steps(const RequantizeArgs& a, const int8_t* x, int16_t* y) {
  const int32_t zero = a.x_zero, low = a.y_min, high = a.y_max, count = a.count;
  for (int32_t i = 0; i < count; ++i)
    y[i] = static_cast<int16_t>(clamp_to((x[i] - zero) * kRequantizeSteps, low, high));
}

}  // namespace

DEUTERON_HOST_CLONES void requantize_s8(const RequantizeArgs& a, const int16_t* x, int8_t* y) {
  requantize_steps(a, 1, x, y);
}
DEUTERON_HOST_CLONES void requantize_s16(const RequantizeArgs& a, const int8_t* x, int16_t* y) {
  if (a.factor == 1 << 14 && a.shift == 1) return widen_steps(a, x, y);
  requantize_steps(a, kRequantizeSteps, x, y);
}

}  // namespace deuteron
