// SPDX-License-Identifier: Apache-2.0
// Quantization for cores without a floating-point unit: the product is rounded to 24 bits, as
// float32 does, then to a whole number, both to nearest with ties to even, in integers. 30
// instructions an element on Cortex-M3; the compiler's library takes 290.
#include "runtime/instruction_set.h"

#if defined(DEUTERON_SCALAR)
#include <cstring>

#include "kernels/integer/float_number.h"
#include "kernels/integer/requantize.h"
#include "kernels/quantize/kernel.h"

namespace deuteron {
namespace {

// 24 bits by 24, at least 2^46, moved up until the product has 48 bits: its upper half, and the
// lower one at the top of a word.
struct Product {
  uint32_t high, low;
  int32_t moved;
};
#if DEUTERON_SCALAR >= 2
inline Product product_of(uint32_t a, uint32_t b) {
  uint64_t p = static_cast<uint64_t>(a) * b;
  int32_t moved = 0;
  if (p >> 47 == 0) p <<= 1, ++moved;
  return {static_cast<uint32_t>(p >> 24), static_cast<uint32_t>(p) << 8, moved};
}
#else
inline Product product_of(uint32_t a, uint32_t b) {  // by halves of 12 bits
  const uint32_t a_high = a >> 12, a_low = a & 0xfff, b_high = b >> 12, b_low = b & 0xfff,
                 bottom = a_low * b_low;
  const uint32_t middle = a_high * b_low + a_low * b_high + (bottom >> 12);
  const uint32_t high = a_high * b_high + (middle >> 12), low = middle << 20 | (bottom & 0xfff)
                                                                                   << 8;
  if (high >> 23 != 0) return {high, low, 0};
  return {2 * high + (low >> 31), 2 * low, 1};
}
#endif

// x * reciprocal as a whole number, at most 512, which every bound cuts.
inline int32_t rounded_product(const FloatNumber& x, const FloatNumber& reciprocal) {
  int32_t shift = 300 - x.exponent - reciprocal.exponent;  // the product is p / 2^shift
  if (shift > 49) return 0;                                // below 2^48 / 2^50
  if (shift < 38) return 512;                              // 2^46 / 2^37 and more
  const Product p = product_of(x.mantissa, reciprocal.mantissa);
  const uint32_t high = p.high + (p.low > 0x80000000u || (p.low == 0x80000000u && (p.high & 1)));
  shift += p.moved - 24;  // 14..26
  return static_cast<int32_t>((high + (1u << (shift - 1)) - 1 + (high >> shift & 1)) >> shift);
}

}  // namespace

void quantize_s8_scalar(const QuantizeArgs& args, const float* x, int8_t* y) {
  const QuantizeArgs a = args;  // for all the compiler knows, y might lie over the arguments
  uint32_t reciprocal_bits;
  std::memcpy(&reciprocal_bits, &a.reciprocal, sizeof reciprocal_bits);
  const FloatNumber reciprocal = float_number(reciprocal_bits);
  for (int32_t i = 0; i < a.count; ++i) {
    uint32_t bits;
    std::memcpy(&bits, __builtin_assume_aligned(x + i, 4),
                sizeof bits);  // with Thumb-1 gcc 12 calls memcpy where it is not told
    const uint32_t size = bits & INT32_MAX;
    int32_t v = 0;  // of zero, and of what is not a number
    if (size - 1 < kInfinite - 1) v = rounded_product(float_number(size), reciprocal);
    else if (size == kInfinite) v = 512;
    y[i] = static_cast<int8_t>(clamp_to((bits >> 31 ? -v : v) + a.zero, a.low, a.high));
  }
}

}  // namespace deuteron
#endif
