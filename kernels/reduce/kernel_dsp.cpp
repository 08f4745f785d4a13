// SPDX-License-Identifier: Apache-2.0
// Sums of slices with the DSP extension: 4 neighbours at a time, two in a word; a row of its own
// four elements at a time.
#include "kernels/common/one_copy.h"
#include "kernels/integer/sums_dsp.h"
#include "kernels/reduce/kernel.h"
#include "kernels/reduce/result.h"

namespace deuteron {
namespace {

DEUTERON_ONE_COPY void sum_block_dsp(const SumArgs& a, const int8_t* x, int8_t* y) {
  int32_t sums[kSumNeighbours] = {};
  add_rows_dsp(x, a.slice, a.inner, sums);
  for (int32_t i = 0; i < kSumNeighbours; ++i) y[i] = sum_result(a, sums[i]);
}

void sum_row_dsp(const SumArgs& a, const int8_t* x, int8_t* y) {
  constexpr int16x2_t kOnes = 0x00010001;
  int32_t sum = 0, left = a.slice;
  for (; left >= kSumNeighbours; left -= kSumNeighbours, x += kSumNeighbours) {
    const int8x4_t word = sum_word_at(x);
    sum = __smlad(__sxtb16(word), kOnes, sum);
    sum = __smlad(__sxtb16(odd_sum_bytes(word)), kOnes, sum);
  }
  for (; left > 0; --left) sum += *x++;
  *y = sum_result(a, sum);
}

}  // namespace

void sum_s8_dsp(const SumArgs& a, const int8_t* x, int8_t* y) {
  if (a.inner != 1 && a.inner < kSumNeighbours) return sum_s8(a, x, y);
  for (int32_t o = 0; o < a.outer; ++o, x += a.slice * a.inner, y += a.inner) {
    if (a.inner == 1) sum_row_dsp(a, x, y);
    for (int32_t i = 0; a.inner != 1 && i < a.inner; i += kSumNeighbours) {
      // the last ones overlap
      const int32_t from = a.inner - i < kSumNeighbours ? a.inner - kSumNeighbours : i;
      sum_block_dsp(a, x + from, y + from);
    }
  }
}

}  // namespace deuteron
