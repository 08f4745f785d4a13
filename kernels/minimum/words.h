// SPDX-License-Identifier: Apache-2.0
// Minimum and maximum by words of four elements of a row, if its operands lie in one piece or are
// one element, without vectors.
#pragma once
#include <utility>

#include "kernels/integer/extremes_words.h"
#include "kernels/integer/words.h"
#include "kernels/minimum/kernel.h"
#include "kernels/minimum/rows.h"

namespace deuteron {

// The words of a row: two at a time.
template <uint32_t (*pick)(uint32_t, uint32_t)>
inline void extremum_words(int32_t count, const int8_t* x, const int8_t* other, int8_t* y) {
  for (; count >= 8; count -= 8, x += 8, other += 8, y += 8) {
    put_four(y, pick(four_at(x), four_at(other)));
    put_four(y + 4, pick(four_at(x + 4), four_at(other + 4)));
  }
  if (count >= 4) put_four(y, pick(four_at(x), four_at(other)));
}
template <uint32_t (*pick)(uint32_t, uint32_t)>
inline void extremum_words(int32_t count, const int8_t* x, uint32_t four, int8_t* y) {
  for (; count >= 8; count -= 8, x += 8, y += 8) {
    put_four(y, pick(four_at(x), four));
    put_four(y + 4, pick(four_at(x + 4), four));
  }
  if (count >= 4) put_four(y, pick(four_at(x), four));
}

template <class F, uint32_t (*pick)(uint32_t, uint32_t)>
void extremum_row_by_words(int32_t count, const int8_t* x, int32_t x_step, const int8_t* other,
                           int32_t other_step, int8_t* y) {
  if (x_step == 0) std::swap(x, other), std::swap(x_step, other_step);
  const bool in_words = x_step == 1 && other_step <= 1 && count >= 4 && has_words(4, x, y) &&
                        (other_step == 0 || has_words(4, other, y));
  if (!in_words) return extremum_row(F{}, count, x, x_step, other, other_step, y);
  if (other_step == 0) extremum_words<pick>(count, x, four_times(*other), y);
  else extremum_words<pick>(count, x, other, y);
  const int32_t rest = count % 4, done = count - rest;
  if (rest != 0)
    extremum_row(F{}, rest, x + done, x_step, other + done * other_step, other_step, y + done);
}

}  // namespace deuteron
