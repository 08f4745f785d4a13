// SPDX-License-Identifier: Apache-2.0
// Requantization written from its definition, with 64-bit integers and no bit tricks. Host only,
// for tests: it shares nothing with kernels/integer/requantize.h, so that a mistake there shows.
#pragma once
#include <cstdint>

namespace deuteron {

// The low 32 bits, as a signed number.
inline int64_t wrap32_reference(int64_t v) {
  const int64_t range = int64_t{1} << 32;
  const int64_t low = ((v % range) + range) % range;
  return low >= range / 2 ? low - range : low;
}

// v / 2^e to nearest, ties away from zero.
inline int64_t divide_reference(int64_t v, int e) {
  const int64_t d = int64_t{1} << e;
  const int64_t magnitude = ((v < 0 ? -v : v) * 2 + d) / (2 * d);
  return v < 0 ? -magnitude : magnitude;
}

// sum * multiplier * 2^(shift-31): the sum wraps to 32 bits, is shifted left (and wraps),
// multiplied (round half up), shifted right (ties away from zero).
inline int64_t requantize_reference(int64_t sum, int64_t multiplier, int shift) {
  int64_t v = wrap32_reference(sum);
  if (shift > 0) v = wrap32_reference(static_cast<int64_t>(static_cast<uint64_t>(v) << shift));
  const int64_t product = v * multiplier + (int64_t{1} << 30), d = int64_t{1} << 31;
  v = wrap32_reference(product / d - (product % d < 0 ? 1 : 0));
  return shift < 0 ? divide_reference(v, -shift) : v;
}

}  // namespace deuteron
