// SPDX-License-Identifier: Apache-2.0
// round(double(v) * scale), ties away from zero, in integers: doubles of the compiler's library
// take 400 instructions for it on cores without them. The result is the same for any v and any
// scale that is positive and finite: the product is rounded to 53 bits first, to even.
#pragma once
#include <cstdint>

namespace deuteron {

// A number mantissa * 2^exponent; mantissa has 53 bits at most.
struct Binary64 {
  uint64_t mantissa;
  int32_t exponent;
};
inline Binary64 binary64_of_bits(int64_t bits) {  // positive and finite
  const uint64_t fraction = static_cast<uint64_t>(bits) & ((uint64_t{1} << 52) - 1);
  const auto biased = static_cast<int32_t>(bits >> 52);
  return biased == 0 ? Binary64{fraction, -1074}
                     : Binary64{fraction | uint64_t{1} << 52, biased - 1075};
}
inline int32_t significant_bits(uint64_t v) { return v == 0 ? 0 : 64 - __builtin_clzll(v); }
// To nearest, ties to even.
inline Binary64 binary64_of(uint64_t v) {
  const int32_t more = significant_bits(v) - 53;
  if (more <= 0) return {v, 0};
  const uint64_t half = uint64_t{1} << (more - 1), rest = v & (2 * half - 1), kept = v >> more;
  return {kept + (rest > half || (rest == half && kept % 2 == 1) ? 1 : 0), more};
}

struct Wide128 {
  uint64_t high, low;
};
inline Wide128 product128(uint64_t a, uint64_t b) {
  const uint64_t a0 = static_cast<uint32_t>(a), a1 = a >> 32, b0 = static_cast<uint32_t>(b),
                 b1 = b >> 32;
  const uint64_t cross = a1 * b0 + (a0 * b0 >> 32), more = a0 * b1 + static_cast<uint32_t>(cross);
  return {a1 * b1 + (cross >> 32) + (more >> 32), more << 32 | static_cast<uint32_t>(a0 * b0)};
}
inline Wide128 shifted128(uint64_t v, int32_t by) {  // by 0..127
  if (by >= 64) return {v << (by - 64), 0};
  return {by == 0 ? 0 : v >> (64 - by), v << by};
}

// Whether the product, rounded to 53 bits, is n + 1/2 or more, where n, below 2^16, is it rounded
// down. A product that rounds up to n + 1/2 is as far from it as half of the last one of those
// bits: 2^(e-53) for e, the exponent of what lies just below.
[[gnu::noinline]] inline bool reaches_half(const Binary64& a, const Binary64& b, uint64_t n) {
  const int32_t below = -(a.exponent + b.exponent);  // bits behind the point of the product
  if (below < 1) return false;                       // it is an integer
  if (below > 108) return false;                     // less than 1/4
  const Wide128 product = product128(a.mantissa, b.mantissa),
                half = shifted128(2 * n + 1, below - 1);
  if (product.high != half.high ? product.high > half.high : product.low >= half.low) return true;
  const Wide128 lacks{half.high - product.high - (half.low < product.low ? 1 : 0),
                      half.low - product.low};
  const int32_t at = below + (n == 0 ? -2 : significant_bits(n) - 1) - 53;
  if (at < 0) return false;
  const Wide128 most = shifted128(1, at);
  return lacks.high != most.high ? lacks.high < most.high : lacks.low <= most.low;
}

// Held to int16. Two factors of 32 bits say all but next to a half, where the whole ones are asked.
inline int32_t steps_of_16x8(int64_t v, int64_t scale_bits) {
  const bool negative = v < 0;
  const uint64_t size = negative ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
  const Binary64 scale = binary64_of_bits(scale_bits);
  const int32_t limit = negative ? 32768 : 32767;
  if (size == 0 || scale.mantissa >> 52 == 0)
    return 0;  // the least scales, times 2^63, are far below 1
  const int32_t left = 64 - significant_bits(size);
  // times 2^(53 - left + scale.exponent)
  const uint64_t product = (size << left >> 32) * (scale.mantissa >> 21);
  const int32_t down = left - scale.exponent - 53 - 16;  // to 16 bits behind the point
  if (down >= 64) return 0;
  if (down < 0 || product >> down >= uint64_t{32769} << 16) return negative ? -limit : limit;
  const auto near = static_cast<uint32_t>(product >> down);
  constexpr uint32_t kNear = 16, kHalf = 1 << 15;
  uint32_t whole = near >> 16;
  const uint32_t part = near & 0xFFFF;
  if (part - (kHalf - kNear) < 2 * kNear)
    whole += reaches_half(binary64_of(size), scale, whole) ? 1 : 0;
  else whole += part >= kHalf ? 1 : 0;
  const auto held = static_cast<int32_t>(whole) < limit ? static_cast<int32_t>(whole) : limit;
  return negative ? -held : held;
}

}  // namespace deuteron
