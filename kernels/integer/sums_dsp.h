// SPDX-License-Identifier: Apache-2.0
// Sums of rows of int8 with the DSP extension: 4 neighbours at a time, two in a word as long as
// they fit int16.
#pragma once
#include <arm_acle.h>

#include <cstdint>
#include <cstring>

namespace deuteron {

inline constexpr int32_t kSumNeighbours = 4;

inline int8x4_t sum_word_at(const int8_t* x) {
  int8x4_t word;
  std::memcpy(&word, x, sizeof word);
  return word;
}
// Bytes 1 and 3, where SXTB16 takes them.
inline int8x4_t odd_sum_bytes(int8x4_t word) {
  return static_cast<int8x4_t>(static_cast<uint32_t>(word) >> 8 | static_cast<uint32_t>(word)
                                                                      << 24);
}

// Adds so many rows, `step` apart, to the sums of 4 neighbours.
inline void add_rows_dsp(const int8_t* x, int32_t rows, int32_t step, int32_t* sums) {
  constexpr int32_t kRowsAtOnce = 255;  // sums of so many int8 fit int16
  for (int32_t done = 0; done < rows; done += kRowsAtOnce) {
    int16x2_t even = 0, odd = 0;
    for (int32_t k = rows - done < kRowsAtOnce ? rows - done : kRowsAtOnce; k > 0; --k, x += step) {
      const int8x4_t word = sum_word_at(x);
      even = __sxtab16(even, word);
      odd = __sxtab16(odd, odd_sum_bytes(word));
    }
    sums[0] += static_cast<int16_t>(even), sums[1] += static_cast<int16_t>(odd),
        sums[2] += even >> 16, sums[3] += odd >> 16;
  }
}

}  // namespace deuteron
