// SPDX-License-Identifier: Apache-2.0
// The inner loop of the recurrent kernels with the DSP extension: four elements of v, widened once,
// meet each row.
#pragma once
#include <arm_acle.h>

#include <cstdint>
#include <cstring>

namespace deuteron {

struct DspRows {
  // Elements 0 and 2 of four, and 1 and 3, as halfwords. Rows begin anywhere: a word may be read
  // unaligned.
  struct Pairs {
    int16x2_t even, odd;
  };
  static Pairs pairs_at(const int8_t* from) {
    int8x4_t four;
    std::memcpy(&four, from, sizeof four);
    Pairs p{__sxtb16(four), 0};
    asm("sxtb16 %0, %1, ror #8"
        : "=r"(p.odd)
        : "r"(four));  // gcc 12 makes two instructions of the intrinsic
    return p;
  }

  template <int32_t rows>
  static void sum(const int8_t* first, int32_t step, const int8_t* v, int32_t count,
                  int32_t (&sums)[rows]) {
    for (int32_t& s : sums) s = 0;
    // With -O2 gcc 12 keeps the sums in memory unless it is told to unroll.
    for (; count >= 4; count -= 4, first += 4, v += 4) {
      const Pairs of_v = pairs_at(v);
#pragma GCC unroll 4
      for (int32_t r = 0; r < rows; ++r) {
        const Pairs w = pairs_at(first + r * step);
        sums[r] = __smlad(w.even, of_v.even, __smlad(w.odd, of_v.odd, sums[r]));
      }
    }
    for (; count > 0; --count, ++first, ++v)
#pragma GCC unroll 4
      for (int32_t r = 0; r < rows; ++r) sums[r] += first[r * step] * *v;
  }
};

}  // namespace deuteron
