// The larger and the smaller bytes of two words of int8, with the DSP extension: SSUB8 notes for each which one is larger, SEL picks.
#pragma once
#include <cstdint>

namespace deuteron {

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
inline uint32_t four_times(int32_t v) { return static_cast<uint8_t>(v) * 0x01010101u; }

}  // namespace deuteron
