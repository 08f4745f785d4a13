// SPDX-License-Identifier: Apache-2.0
// Multiplication with the DSP extension: what is scaled by a shift, as most is, four elements at a
// time. A factor is doubled, as multiply_high_rounded() wants products.
#include <arm_acle.h>

#include <cstring>

#include "kernels/mul/words.h"

namespace deuteron {
namespace {

// The bytes 0 and 2 of four, or 1 and 3, as halves of a word, with what stands in those of `to`
// added.
template <bool is_odd>
uint32_t widened(uint32_t to, uint32_t bytes) {
  uint32_t sum;
  if (is_odd) asm("sxtab16 %0, %1, %2, ror #8" : "=r"(sum) : "r"(to), "r"(bytes));
  else asm("sxtab16 %0, %1, %2" : "=r"(sum) : "r"(to), "r"(bytes));
  return sum;
}

uint32_t word_at(const int8_t* at) {
  uint32_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

int32_t low_product(uint32_t a, uint32_t b) {
  return static_cast<int16_t>(a) * static_cast<int16_t>(b);
}
int32_t high_product(uint32_t a, uint32_t b) {
  return (static_cast<int32_t>(a) >> 16) * (static_cast<int32_t>(b) >> 16);
}

uint32_t in_both_halves(int32_t v) { return static_cast<uint16_t>(v) * 0x10001U; }

// Halves go away from zero: one less from what is negative. `added`: the zero point and one half,
// to the left by `right`.
int8_t finish(int32_t product, int32_t multiplier, int32_t added, int32_t right) {
  int32_t v = added + (product >> 31);
  asm("smmlar %0, %1, %2, %0" : "+r"(v) : "r"(product), "r"(multiplier));
  return static_cast<int8_t>(__ssat(v >> right, 8));
}

}  // namespace

void mul_s8_dsp(const MulArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  constexpr int32_t kMostRight = 22;  // `added` stays below 2^30
  const int32_t right = -a.shift, multiplier = a.multiplier, period = a.period;
  if (right == 0 || right > kMostRight || multiplier < 0 || period % 4 != 0)
    return mul_s8_words(a, x, other, y);
  const int32_t added = (2 * a.y_zero + 1) * (1 << right) >> 1;
  const uint32_t x_offset = in_both_halves(-a.x_zero), offset = in_both_halves(-2 * a.other_zero);
  for (const int8_t* const end = y + a.count; y < end;)
    for (int32_t i = 0; i < period; i += 4, x += 4, y += 4) {
      const uint32_t xs = word_at(x), others = word_at(other + i),
                     x02 = widened<false>(x_offset, xs), x13 = widened<true>(x_offset, xs),
                     o02 = widened<false>(widened<false>(offset, others), others),
                     o13 = widened<true>(widened<true>(offset, others), others);
      y[0] = finish(low_product(x02, o02), multiplier, added, right);
      y[1] = finish(low_product(x13, o13), multiplier, added, right);
      y[2] = finish(high_product(x02, o02), multiplier, added, right);
      y[3] = finish(high_product(x13, o13), multiplier, added, right);
    }
}

}  // namespace deuteron
