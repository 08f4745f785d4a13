// SPDX-License-Identifier: Apache-2.0
// The lookup of kernel.h by the value's bits as an unsigned number. Host only, for tests.
#pragma once
#include <cstdint>

namespace deuteron {

inline void lookup_reference(int64_t count, const int8_t* table, const int8_t* x, int8_t* y) {
  for (int64_t i = 0; i < count; ++i)
    y[i] = table[static_cast<uint8_t>(static_cast<uint8_t>(x[i]) ^ 0x80)];
}

}  // namespace deuteron
