// SPDX-License-Identifier: Apache-2.0
// TFLite's way from a sum in 64 bits to int16: with a multiplier of 15 bits, rounded once.
#pragma once
#include <cstdint>

#include "kernels/integer/requantize.h"

namespace deuteron {

// (sum * multiplier + 2^(shift-1)) >> shift, of which 32 bits are kept: multiplier 0..32767,
// shift 1..46; halves up. The product is taken modulo 2^64. Source: TFLite's
// MultiplyByQuantizedMultiplier of int64. A shift less, one added, and the rest of the shift: 8
// instructions fewer than with half of the divisor.
inline constexpr int32_t kLeastShift16x8 = 1, kMostShift16x8 = 46;
inline int32_t requantize_16x8(int64_t sum, int32_t multiplier, int32_t shift) {
  const auto product =
      static_cast<int64_t>(static_cast<uint64_t>(sum) * static_cast<uint32_t>(multiplier));
  return static_cast<int32_t>(((product >> (shift - 1)) + 1) >> 1);
}
// first + sum, modulo 2^64.
inline int64_t sum_from(int64_t first, int64_t sum) {
  return static_cast<int64_t>(static_cast<uint64_t>(first) + static_cast<uint64_t>(sum));
}

// What brings the sum of filter `oc` to the result's steps, in 64 bits and, with TFLite's int32
// biases, in 32.
struct Wide16x8 {
  const int64_t* first;
  const int32_t *multiplier, *shift;
  int32_t operator()(int32_t oc, int64_t sum) const {
    return requantize_16x8(sum_from(first != nullptr ? first[oc] : 0, sum), multiplier[oc],
                           shift[oc]);
  }
};
struct Narrow16x8 {
  const int32_t *first, *multiplier, *shift;
  int32_t operator()(int32_t oc, int64_t sum) const {
    return requantize(add_wrapping(first[oc], static_cast<int32_t>(sum)), multiplier[oc],
                      shift[oc]);
  }
};

}  // namespace deuteron
