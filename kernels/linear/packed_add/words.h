// SPDX-License-Identifier: Apache-2.0
// Addition in one step, element by element, without vectors. In Thumb-2 SSAT shifts too, so that an
// element is two loads, two multiply-accumulates, SSAT and a store.
#pragma once
#include "kernels/integer/requantize.h"
#include "kernels/linear/packed_add/kernel.h"

namespace deuteron {

template <int32_t right>
inline void linear_add_s8_words(const LinearAddArgs a, const int8_t* x, const int8_t* other,
                                int8_t* y) {
  const auto one = [&](int32_t u, int32_t v) {
    const uint32_t sum = static_cast<uint32_t>(u) * static_cast<uint32_t>(a.x_factor) +
                         static_cast<uint32_t>(a.first) +
                         static_cast<uint32_t>(v) * static_cast<uint32_t>(a.other_factor);
#if defined(__ARM_FEATURE_SAT)
    int32_t result;
    asm("ssat %0, #8, %1, asr %2" : "=r"(result) : "r"(sum), "i"(right));
    return static_cast<int8_t>(result);
#else
    return static_cast<int8_t>(clamp_to(static_cast<int32_t>(sum) >> right, INT8_MIN, INT8_MAX));
#endif
  };
  for (int32_t done = 0; done < a.count; done += a.period) {
    const int8_t* from = other;
    int32_t left = a.period;
    for (; left >= 4; left -= 4, x += 4, from += 4, y += 4)
      y[0] = one(x[0], from[0]), y[1] = one(x[1], from[1]), y[2] = one(x[2], from[2]),
      y[3] = one(x[3], from[3]);
    for (; left > 0; --left) *y++ = one(*x++, *from++);
  }
}

}  // namespace deuteron
