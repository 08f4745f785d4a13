// SPDX-License-Identifier: Apache-2.0
// Zeros at the end of a row.
#pragma once
#include <cstdint>
#include <cstring>

namespace deuteron {

// How many of the elements are left when those at the end that are all `zero` are not counted, four
// by four. `length`: a multiple of four.
inline int32_t length_without_zeros(const int8_t* x, int32_t length, int32_t zero) {
  const uint32_t zeros = static_cast<uint32_t>(zero & 0xff) * 0x01010101;
  for (; length > 0; length -= 4) {
    uint32_t four;
    std::memcpy(&four, x + length - 4, sizeof four);
    if (four != zeros) break;
  }
  return length;
}

}  // namespace deuteron
