// SPDX-License-Identifier: Apache-2.0
// The lookup of kernel.h with divisions. Host only, for tests.
#pragma once
#include "kernels/unary/s16/kernel.h"

namespace deuteron {

inline int16_t lookup_s16_reference(const int16_t* table, int16_t x) {
  const int64_t from_first = int64_t{x} + 32768, k = from_first / 128, part = from_first % 128;
  const int64_t rise = (int64_t{table[k + 1]} - table[k]) * part + 64;
  return static_cast<int16_t>(table[k] + (rise >= 0 ? rise / 128 : -((-rise + 127) / 128)));
}

}  // namespace deuteron
