// SPDX-License-Identifier: Apache-2.0
// Four int8 in a word, for cores without vectors. Some want a word to be aligned.
#pragma once
#include <cstdint>
#include <cstring>

#include "runtime/instruction_set.h"

namespace deuteron {

#if defined(DEUTERON_MICROCONTROLLER) && !defined(DEUTERON_UNALIGNED)
inline constexpr bool kHasUnalignedWords = false;
#else
inline constexpr bool kHasUnalignedWords = true;
#endif
template <class T>
T* word_place(T* p) {
  return kHasUnalignedWords ? p : static_cast<T*>(__builtin_assume_aligned(p, 4));
}

inline uint32_t four_at(const int8_t* x) {
  uint32_t word;
  std::memcpy(&word, word_place(x), sizeof word);
  return word;
}
inline void put_four(int8_t* y, uint32_t word) { std::memcpy(word_place(y), &word, sizeof word); }

// The lower halves of two words, and the upper ones; those of `a` become the lower half.
inline uint32_t lower_halves(uint32_t a, uint32_t b) {
#if defined(DEUTERON_DSP)
  uint32_t r;
  asm("pkhbt %0, %1, %2, lsl #16" : "=r"(r) : "r"(a), "r"(b));
  return r;
#else
  return (a & 0xffffu) | b << 16;
#endif
}
inline uint32_t upper_halves(uint32_t a, uint32_t b) {
#if defined(DEUTERON_DSP)
  uint32_t r;
  asm("pkhtb %0, %1, %2, asr #16" : "=r"(r) : "r"(b), "r"(a));
  return r;
#else
  return (b & ~0xffffu) | a >> 16;
#endif
}

// Whether rows of so many elements go by words: those that follow each other, of which the last
// word of a row may lie over the one before it.
inline bool has_words(int32_t elements, const int8_t* x, const int8_t* y) {
  if (kHasUnalignedWords) return elements >= 4;
  return (static_cast<uintptr_t>(elements) | reinterpret_cast<uintptr_t>(x) |
          reinterpret_cast<uintptr_t>(y)) %
             4 ==
         0;
}

}  // namespace deuteron
