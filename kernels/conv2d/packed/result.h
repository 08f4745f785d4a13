// SPDX-License-Identifier: Apache-2.0
// From a sum to an int8, as the kernels on packed weights round.
#pragma once
#include "kernels/integer/requantize.h"

namespace deuteron {

// `shift`: of other bytes than a compiler wrote it may be anything.
inline int8_t packed_result(uint32_t sum, int64_t doubled_multiplier, int32_t shift, int32_t zero) {
  // Unsigned: with bytes that no compiler wrote, the product may leave int64.
  const auto exact = static_cast<uint64_t>(int64_t{static_cast<int32_t>(sum)}) *
                     static_cast<uint64_t>(doubled_multiplier);
  if (shift > 0) {  // rounded once
    const auto down = static_cast<int32_t>(static_cast<int64_t>(exact) >> 32);
    const int by = -shift & 31;
    return static_cast<int8_t>(
        clamp_to(add_wrapping(by == 0 ? down : round_up_shift_right(down, by), zero), -128, 127));
  }
  const auto product = static_cast<int64_t>(exact + (uint64_t{1} << 31));
  const auto scaled = static_cast<int32_t>(product >> 32);
  const int32_t shifted = shift < 0 && shift > -32 ? round_shift_right(scaled, -shift) : scaled;
  return static_cast<int8_t>(clamp_to(add_wrapping(shifted, zero), -128, 127));
}

}  // namespace deuteron
