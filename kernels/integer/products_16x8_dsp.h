// SPDX-License-Identifier: Apache-2.0
// The products of kernels/integer/products_16x8.h with the DSP extension: two in an instruction,
// with sums of 64 bits.
#pragma once
#include <cstdint>

namespace deuteron {

class Products16x8Dsp {
 public:
  // Four numbers and both filters: 16 instructions. Assembly, because gcc 12 keeps sums on the
  // stack.
  void add(const int16_t* x, const int8_t* weight, int32_t step, int32_t count) {
    const int8_t* second = weight + step;
    int32_t fours = count / 4;
    if (fours > 0) {
      uint32_t w, odd, even, pair;
      asm("1:\n"
          "ldr %[w], [%[x]], #4\n"
          "ldr %[odd], [%[x]], #4\n"
          "pkhbt %[even], %[w], %[odd], lsl #16\n"
          "pkhtb %[odd], %[odd], %[w], asr #16\n"
          "ldr %[w], [%[first]], #4\n"
          "subs %[fours], #1\n"
          "sxtb16 %[pair], %[w]\n"
          "smlald %Q[a], %R[a], %[pair], %[even]\n"
          "sxtb16 %[pair], %[w], ror #8\n"
          "ldr %[w], [%[second]], #4\n"
          "smlald %Q[a], %R[a], %[pair], %[odd]\n"
          "sxtb16 %[pair], %[w]\n"
          "smlald %Q[b], %R[b], %[pair], %[even]\n"
          "sxtb16 %[pair], %[w], ror #8\n"
          "smlald %Q[b], %R[b], %[pair], %[odd]\n"
          "bne 1b\n"
          : [a] "+r"(sum_[0]), [b] "+r"(sum_[1]), [x] "+r"(x), [first] "+r"(weight),
            [second] "+r"(second), [fours] "+l"(fours), [w] "=&r"(w), [odd] "=&r"(odd),
            [even] "=&r"(even), [pair] "=&r"(pair)
          :
          : "cc", "memory");
    }
    for (count %= 4; count > 0; --count, ++x) sum_[0] += *x * *weight++, sum_[1] += *x * *second++;
  }
  // The same of int16 by int16: two numbers in six instructions.
  void add(const int16_t* x, const int16_t* other, int32_t step, int32_t count) {
    const int16_t* second = other + step;
    int32_t twos = count / 2;
    if (twos > 0) {
      uint32_t w, pair;
      asm("1:\n"
          "ldr %[pair], [%[x]], #4\n"
          "ldr %[w], [%[first]], #4\n"
          "subs %[twos], #1\n"
          "smlald %Q[a], %R[a], %[pair], %[w]\n"
          "ldr %[w], [%[second]], #4\n"
          "smlald %Q[b], %R[b], %[pair], %[w]\n"
          "bne 1b\n"
          : [a] "+r"(sum_[0]), [b] "+r"(sum_[1]), [x] "+r"(x), [first] "+r"(other),
            [second] "+r"(second), [twos] "+l"(twos), [w] "=&r"(w), [pair] "=&r"(pair)
          :
          : "cc", "memory");
    }
    if (count % 2 > 0) sum_[0] += *x * *other, sum_[1] += *x * *second;
  }
  int64_t total(int32_t k) const { return sum_[k]; }

 private:
  int64_t sum_[2] = {};
};

}  // namespace deuteron
