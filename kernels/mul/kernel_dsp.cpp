// SPDX-License-Identifier: Apache-2.0
// Multiplication with the DSP extension: what is scaled by a shift, as most is, four elements at a
// time. A factor is doubled, as multiply_high_rounded() wants products.
#include "kernels/integer/requantize_words.h"
#include "kernels/mul/fours_dsp.h"
#include "kernels/mul/kernel.h"

namespace deuteron {
namespace {

uint32_t in_both_halves(int32_t v) { return static_cast<uint16_t>(v) * 0x10001U; }

// What the loops of fours do not take. Its own arguments: y may be theirs, for all gcc knows.
void mul_one_by_one(const MulArgs a, const int8_t* x, const int8_t* other, int8_t* y) {
  const int32_t right = -a.shift, half = static_cast<int32_t>((1U << right) >> 1);
  for (const int8_t* const end = y + a.count; y < end;)
    for (int32_t i = 0; i < a.period; ++i) {
      const int32_t v =
          multiply_high_rounded(2 * (*x++ - a.x_zero) * (other[i] - a.other_zero), a.multiplier);
      // only what has a shift is rounded again
      *y++ = static_cast<int8_t>(
          saturate_s8(((v + half + ((v & a.shift) >> 31)) >> right) + a.y_zero));
    }
}

}  // namespace

void mul_s8_dsp(const MulArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  constexpr int32_t kMostRight = 22;  // `added` stays below 2^30
  const int32_t right = -a.shift;
  if (right == 0 || right > kMostRight || a.multiplier < 0 || a.period % 4 != 0)
    return mul_one_by_one(a, x, other, y);
  if (a.count == 0) return;
  const DspFours fours{x,
                       y,
                       other,
                       y + a.count,
                       in_both_halves(-2 * a.other_zero),
                       x + a.period,
                       right,
                       in_both_halves(-a.x_zero),
                       (2 * a.y_zero + 1) * (1 << right) >> 1,
                       a.multiplier,
                       a.period};
  (a.period == a.count ? deuteron_mul_row_dsp : deuteron_mul_rows_dsp)(&fours);
}

}  // namespace deuteron
