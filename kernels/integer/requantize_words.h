// SPDX-License-Identifier: Apache-2.0
// The steps of requantize_to_s8() of kernels/integer/requantize.h for one number at a time, in few
// instructions.
#pragma once
#if defined(__ARM_FEATURE_SAT)
#include <arm_acle.h>
#endif

#include <cstdint>

#include "kernels/integer/requantize.h"

namespace deuteron {

// Round half up of a * b / 2^32: multiply_high() of half of a.
inline int32_t multiply_high_rounded(int32_t a, int32_t b) {
#if defined(__ARM_FEATURE_DSP)
  int32_t v;
  asm("smmulr %0, %1, %2" : "=r"(v) : "r"(a), "r"(b));
  return v;
#elif defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 1
  const HighWord product = high_word_by_halves(a, b);
  return product.high + static_cast<int32_t>(product.below >> 15);
#else
  const int64_t product = static_cast<int64_t>(a) * b;
  return static_cast<int32_t>(product >> 32) +
         static_cast<int32_t>(static_cast<uint32_t>(product) >> 31);
#endif
}

// v / 2^right to nearest, halves away from zero; right 1..31, v above INT32_MIN. One less from what
// is negative, then the last bit shifted out is added.
inline int32_t shift_right_rounded(int32_t v, int32_t right) {
#if !defined(__ARM_ARCH_ISA_THUMB) || __ARM_ARCH_ISA_THUMB == 1
  const int32_t all_but_last = (v + (v >> 31)) >> (right - 1);
  return (all_but_last >> 1) + (all_but_last & 1);
#else
  int32_t r;
  asm("asrs %0, %1, %2\n\tadc %0, %0, #0" : "=r"(r) : "r"(v + (v >> 31)), "r"(right) : "cc");
  return r;
#endif
}

inline int32_t saturate_s8(int32_t v) {
#if defined(__ARM_FEATURE_SAT)
  return __ssat(v, 8);
#else
  return clamp_to(v, INT8_MIN, INT8_MAX);
#endif
}

}  // namespace deuteron
