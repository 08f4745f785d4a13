// SPDX-License-Identifier: Apache-2.0
// Exponentials in fixed point. Numbers are int32; Qm.n has n bits behind the point.
#pragma once
#include "kernels/common/one_copy.h"
#include "kernels/integer/requantize_words.h"

namespace deuteron::q31 {

inline int32_t add(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}

// multiply_high() in fewer instructions, where one factor may be doubled: of the product the upper
// word is kept, and the bit below it. |b| < 2^30, or both are not negative.
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 1
DEUTERON_ONE_COPY inline int32_t multiply_small(int32_t a, int32_t b) {
  return multiply_high(a, b);
}
DEUTERON_ONE_COPY inline uint32_t multiply_unsigned(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>(multiply_high(static_cast<int32_t>(a), static_cast<int32_t>(b)));
}
#else
inline int32_t multiply_small(int32_t a, int32_t b) { return multiply_high_rounded(a, 2 * b); }
inline uint32_t multiply_unsigned(uint32_t a, uint32_t b) {
  const uint64_t product = uint64_t{a} * (2 * b);
  return static_cast<uint32_t>(product >> 32) + (static_cast<uint32_t>(product) >> 31);
}
#endif

// Where an instruction can be left out by a condition, all numbers take the same time.
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 2
inline constexpr bool kSameTime = true;
#else
inline constexpr bool kSameTime = false;
#endif

// exp(v / 2^26) for v <= 0, Q0.31: a polynomial on [-1/4, 0), then a factor exp(-2^k) for each bit
// of what is left. gemmlowp.
inline int32_t exp_of_negative(int32_t v) {
  constexpr int32_t kQuarter = 1 << 24;
  static constexpr uint32_t kFactors[] = {
      1672461947, 1302514674, 790015084, 290630308,
      39332535,   720401,     242};  // exp(-1/4), exp(-1/2), .. exp(-16), Q0.31
  constexpr int32_t kExpOfEighth = 1895147668, kThird = 715827883;  // exp(-1/8), 1/3, Q0.31
  if (!kSameTime && v == 0) return INT32_MAX;
  const int32_t part = (v & (kQuarter - 1)) - kQuarter;
  const int32_t x = part * 32 + (1 << 28);  // Q0.31, about -1/8: what follows is within 2^28
  const int32_t x2 = multiply_small(x, x), x3 = multiply_small(x, x2), x4 = multiply_small(x2, x2);
  const int32_t series =
      x + shift_right_rounded(multiply_small(shift_right_rounded(x4, 2) + x3, kThird) + x2, 1);
  auto e = static_cast<uint32_t>(kExpOfEighth + multiply_small(kExpOfEighth, series));
  uint32_t quarters = (static_cast<uint32_t>(part) - static_cast<uint32_t>(v)) / kQuarter;
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 2
#pragma GCC unroll 7
  for (const uint32_t factor : kFactors) {  // multiply_unsigned(), where the bit is set
    uint32_t high, low;
    asm("umull %2, %3, %0, %4\n\tlsrs %1, %1, #1\n\tit cs\n\taddcs %0, %3, %2, lsr #31"
        : "+r"(e), "+r"(quarters), "=&r"(low), "=&r"(high)
        : "r"(2 * factor)
        : "cc");
  }
  if (v == 0) e = INT32_MAX;
#else
#pragma GCC unroll 1  // one step is 30 bytes
  for (const uint32_t* factor = kFactors; quarters != 0; quarters >>= 1, ++factor)
    if (quarters & 1) e = multiply_unsigned(e, *factor);
#endif
  return static_cast<int32_t>(e);
}

}  // namespace deuteron::q31
