// SPDX-License-Identifier: Apache-2.0
// Multiplication element by element, without vectors. The product of two differences of int8 is
// below 2^16, so it may be doubled, as multiply_high_rounded() wants it.
#pragma once
#include "kernels/integer/requantize_words.h"
#include "kernels/mul/kernel.h"

namespace deuteron {

template <bool is_shifted>
void mul_words(const MulArgs a, const int8_t* x, const int8_t* other, int8_t* y) {
  for (int32_t done = 0; done < a.count; done += a.period)
    for (int32_t i = 0; i < a.period; ++i) {
      int32_t v =
          multiply_high_rounded(2 * (*x++ - a.x_zero) * (other[i] - a.other_zero), a.multiplier);
      if (is_shifted) v = shift_right_rounded(v, -a.shift);
      *y++ = static_cast<int8_t>(saturate_s8(v + a.y_zero));
    }
}

// Limits   why_not_mul_words() is null
inline void mul_s8_words(const MulArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  (a.shift != 0 ? mul_words<true> : mul_words<false>)(a, x, other, y);
}

}  // namespace deuteron
