// The two steps of requantize() of ops/integer/requantize.h for one number at a time, in few instructions of Thumb-2.
#pragma once
#include <cstdint>

namespace deuteron {

// Round half up of a * b / 2^32: multiply_high() of half of a.
inline int32_t multiply_high_rounded(int32_t a, int32_t b) {
#if defined(__ARM_FEATURE_DSP)
  int32_t v;
  asm("smmulr %0, %1, %2" : "=r"(v) : "r"(a), "r"(b));
  return v;
#else
  const int64_t product = static_cast<int64_t>(a) * b;
  return static_cast<int32_t>(product >> 32) + static_cast<int32_t>(static_cast<uint32_t>(product) >> 31);
#endif
}

// v / 2^right to nearest, halves away from zero; right 1..31, v above INT32_MIN. One less from what is negative, then the last bit shifted
// out is added.
inline int32_t shift_right_rounded(int32_t v, int32_t right) {
  int32_t r;
  asm("asrs %0, %1, %2\n\tadc %0, %0, #0" : "=r"(r) : "r"(v + (v >> 31)), "r"(right) : "cc");
  return r;
}

}  // namespace deuteron
