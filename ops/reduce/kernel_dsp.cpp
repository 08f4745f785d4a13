// Sums of slices with the DSP extension: 4 neighbours at a time, two in a word; a row of its own four elements at a time.
#include <arm_acle.h>

#include <cstring>

#include "ops/device/one_copy.h"
#include "ops/integer/requantize.h"
#include "ops/reduce/kernel.h"

namespace deuteron {
namespace {

constexpr int32_t kSumNeighbours = 4;
constexpr int32_t kSumRowsAtOnce = 255;  // sums of so many int8 fit int16

DEUTERON_ONE_COPY int8_t sum_result_dsp(const SumArgs& a, int32_t sum) {
  return requantize_to_s8(static_cast<uint32_t>(sum - a.slice * a.x_zero), a.multiplier, a.shift, a.y_zero, a.low, a.high);
}

int8x4_t sum_word_at(const int8_t* x) {
  int8x4_t word;
  std::memcpy(&word, x, sizeof word);
  return word;
}
// Bytes 1 and 3, where SXTB16 takes them.
int8x4_t odd_sum_bytes(int8x4_t word) {
  return static_cast<int8x4_t>(static_cast<uint32_t>(word) >> 8 | static_cast<uint32_t>(word) << 24);
}

DEUTERON_ONE_COPY void sum_block_dsp(const SumArgs& a, const int8_t* x, int8_t* y) {
  int32_t sums[kSumNeighbours] = {};
  for (int32_t done = 0; done < a.slice; done += kSumRowsAtOnce) {
    int16x2_t even = 0, odd = 0;
    for (int32_t k = a.slice - done < kSumRowsAtOnce ? a.slice - done : kSumRowsAtOnce; k > 0; --k, x += a.inner) {
      const int8x4_t word = sum_word_at(x);
      even = __sxtab16(even, word);
      odd = __sxtab16(odd, odd_sum_bytes(word));
    }
    sums[0] += static_cast<int16_t>(even), sums[1] += static_cast<int16_t>(odd), sums[2] += even >> 16, sums[3] += odd >> 16;
  }
  for (int32_t i = 0; i < kSumNeighbours; ++i) y[i] = sum_result_dsp(a, sums[i]);
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
  *y = sum_result_dsp(a, sum);
}

}  // namespace

void sum_s8_dsp(const SumArgs& a, const int8_t* x, int8_t* y) {
  if (a.inner != 1 && a.inner < kSumNeighbours) return sum_s8(a, x, y);
  for (int32_t o = 0; o < a.outer; ++o, x += a.slice * a.inner, y += a.inner) {
    if (a.inner == 1) sum_row_dsp(a, x, y);
    for (int32_t i = 0; a.inner != 1 && i < a.inner; i += kSumNeighbours) {
      const int32_t from = a.inner - i < kSumNeighbours ? a.inner - kSumNeighbours : i;  // the last ones overlap
      sum_block_dsp(a, x + from, y + from);
    }
  }
}

}  // namespace deuteron
