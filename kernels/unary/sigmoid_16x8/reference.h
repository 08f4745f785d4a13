// SPDX-License-Identifier: Apache-2.0
// The functions of kernel.h as their contract has them, in 64 bits with divisions. Host only, for
// tests.
#pragma once
#include <cstdint>

#include "kernels/unary/sigmoid_16x8/kernel.h"

namespace deuteron {

inline int64_t floor_divide(int64_t v, int64_t by) { return v / by - (v % by < 0 ? 1 : 0); }

inline int16_t sigmoid_16x8_reference(const Sigmoid16x8Args& a, bool is_tanh, int16_t x,
                                      const int16_t* table) {
  const int64_t part = is_tanh ? 256 : 512, one = int64_t{1} << a.shift;
  const int64_t d = floor_divide(int64_t{x} * a.multiplier + one / 2, one), size = d < 0 ? -d : d,
                u = size / part;
  const auto entry = [&](int64_t i) { return int64_t{static_cast<uint16_t>(table[i])}; };
  const int64_t line = u >= 255 ? 0 : entry(u) * part + size % part * (entry(u + 1) - entry(u));
  if (is_tanh) {
    const int64_t r = u >= 255 ? int64_t{65535} * 256 : line, middle = int64_t{1} << 23;
    return static_cast<int16_t>(floor_divide(d >= 0 ? r - middle + 128 : middle - r + 127, 256));
  }
  const int64_t r = u >= 255 ? int64_t{32767} * 1024 : line;
  return static_cast<int16_t>(floor_divide(d >= 0 ? r + 512 : (int64_t{1} << 25) - r + 511, 1024));
}

}  // namespace deuteron
