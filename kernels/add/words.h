// SPDX-License-Identifier: Apache-2.0
// Addition element by element, without vectors. The high product of a doubled first factor rounds
// as requantize() asks for, and the difference shifted left by 21 has room for that: 255 * 2^21 <
// 2^30.
#pragma once
#include "kernels/add/kernel.h"
#include "kernels/integer/requantize_words.h"

namespace deuteron {

template <bool is_x_shifted, bool is_other_shifted, bool has_bounds>
void add_words(const AddArgs a, const int8_t* x, const int8_t* other, int8_t* y) {
  constexpr int32_t kLeft = 1 << 21;
  const int32_t x_right = -a.x.shift, other_right = -a.other.shift, right = -a.y.shift;
  for (int32_t done = 0; done < a.count; done += a.period)
    for (int32_t i = 0; i < a.period; ++i) {
      int32_t u = multiply_high_rounded((*x++ - a.x.zero) * kLeft, a.x.multiplier);
      int32_t v = multiply_high_rounded((other[i] - a.other.zero) * kLeft, a.other.multiplier);
      if (is_x_shifted) u = shift_right_rounded(u, x_right);
      if (is_other_shifted) v = shift_right_rounded(v, other_right);
      const int32_t sum =
          shift_right_rounded(multiply_high_rounded(2 * (u + v), a.y.multiplier), right) + a.y.zero;
      *y++ = static_cast<int8_t>(has_bounds ? clamp_to(sum, a.y_min, a.y_max) : saturate_s8(sum));
    }
}

template <bool has_bounds>
void choose_add(const AddArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  if (a.x.shift != 0)
    return (a.other.shift != 0 ? add_words<true, true, has_bounds>
                               : add_words<true, false, has_bounds>)(a, x, other, y);
  return (a.other.shift != 0 ? add_words<false, true, has_bounds>
                             : add_words<false, false, has_bounds>)(a, x, other, y);
}

// Limits   why_not_add_dsp() is null
inline void add_s8_words(const AddArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  (a.y_min == -128 && a.y_max == 127 ? choose_add<false> : choose_add<true>)(a, x, other, y);
}

}  // namespace deuteron
