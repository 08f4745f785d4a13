// SPDX-License-Identifier: Apache-2.0
#include "kernels/add/16x8/kernel.h"

#include "kernels/integer/requantize.h"

namespace deuteron {

void add_16x8(const Add16x8Args& args, const int16_t* x, const int16_t* other, int16_t* y) {
  const Add16x8Args a = args;  // for all the compiler knows, y might lie over the arguments
  constexpr int32_t kOne = 1 << 15;
  const bool negative = a.other_multiplier < 0;
  const int32_t by = negative ? -a.other_multiplier : a.other_multiplier;
  for (int32_t i = 0; i < a.count; ++i) {
    const int32_t one = requantize(x[i] * kOne, a.x_multiplier, a.x_shift),
                  more = requantize(other[i] * kOne, by, a.other_shift);
    const int32_t sum = negative ? subtract_wrapping(one, more) : add_wrapping(one, more);
    y[i] = static_cast<int16_t>(
        clamp_to(requantize(sum, a.y_multiplier, a.y_shift), a.y_min, a.y_max));
  }
}

void shifted_add_16x8(const ShiftedAdd16x8Args& args, const int16_t* x, const int16_t* other,
                      int16_t* y) {
  const ShiftedAdd16x8Args a = args;
  for (int32_t i = 0; i < a.count; ++i) {
    const int32_t one = round_shift_right(x[i], a.x_shift),
                  more = round_shift_right(other[i], a.other_shift);
    y[i] = static_cast<int16_t>(clamp_to(a.sign < 0 ? one - more : one + more, a.y_min, a.y_max));
  }
}

}  // namespace deuteron
