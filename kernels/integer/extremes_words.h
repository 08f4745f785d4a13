// SPDX-License-Identifier: Apache-2.0
// The larger and the smaller bytes of two words of int8. With the DSP extension SSUB8 notes for
// each which one is larger, and SEL picks. Without, the bits below the signs are compared by a
// subtraction that borrows from no neighbour, and signs where they differ: 11 instructions with
// Thumb-2.
#pragma once
#include <cstdint>

#include "runtime/instruction_set.h"

namespace deuteron {

inline uint32_t four_times(int32_t v) { return static_cast<uint8_t>(v) * 0x01010101u; }

#if defined(DEUTERON_DSP)
inline uint32_t larger_bytes(uint32_t a, uint32_t b) {
  uint32_t r;
  asm("ssub8 %0, %1, %2\n\tsel %0, %1, %2" : "=&r"(r) : "r"(a), "r"(b));
  return r;
}
inline uint32_t smaller_bytes(uint32_t a, uint32_t b) {
  uint32_t r;
  asm("ssub8 %0, %1, %2\n\tsel %0, %2, %1" : "=&r"(r) : "r"(a), "r"(b));
  return r;
}
#else
// The bits in which a and b differ, of those bytes in which a is the larger one.
inline uint32_t differences_where_larger(uint32_t a, uint32_t b) {
  constexpr uint32_t kSigns = 0x80808080u;
  const uint32_t differ = a ^ b,
                 no_less = (a | kSigns) - (b & ~kSigns);  // of each byte the highest bit
  const uint32_t larger = ((no_less & ~differ) | (b & differ)) & kSigns;
  return differ & (larger | (larger - (larger >> 7)));
}
inline uint32_t larger_bytes(uint32_t a, uint32_t b) { return b ^ differences_where_larger(a, b); }
inline uint32_t smaller_bytes(uint32_t a, uint32_t b) { return a ^ differences_where_larger(a, b); }
#endif

}  // namespace deuteron
