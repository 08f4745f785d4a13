// SPDX-License-Identifier: Apache-2.0
// A float32 taken apart, for cores without a floating-point unit.
#pragma once
#include <cstdint>

namespace deuteron {

inline constexpr uint32_t kHidden = 1u << 23, kFraction = kHidden - 1,
                          kInfinite = 0xffu << 23;  // 8 bits of exponent above 23

// A finite positive number, mantissa * 2^(exponent - 150): the mantissa has 24 bits, the upper one
// set.
struct FloatNumber {
  uint32_t mantissa;
  int32_t exponent;  // of what lies below the normal numbers 0 and less
};
inline FloatNumber float_number(uint32_t bits) {
  if (bits >= kHidden) return {(bits & kFraction) | kHidden, static_cast<int32_t>(bits >> 23)};
  FloatNumber n{bits, 1};
  while (n.mantissa < kHidden) n.mantissa *= 2, --n.exponent;
  return n;
}

}  // namespace deuteron
