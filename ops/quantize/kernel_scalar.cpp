// Quantization for cores without a floating-point unit: the product is rounded to 24 bits, as float32 does, then to a whole number, both to
// nearest with ties to even, in integers. 30 instructions an element on Cortex-M3; the compiler's library takes 290.
#include "runtime/instruction_set.h"

#if defined(DEUTERON_SCALAR)
#include <cstring>

#include "ops/integer/requantize.h"
#include "ops/quantize/kernel.h"

namespace deuteron {
namespace {

constexpr uint32_t kExponent = 0xff, kHidden = 1u << 23, kFraction = kHidden - 1;  // of float32: 8 bits above 23

// 24 bits by 24, at least 2^46, moved up until the product has 48 bits: its upper half, and the lower one at the top of a word.
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
  const uint32_t a_high = a >> 12, a_low = a & 0xfff, b_high = b >> 12, b_low = b & 0xfff, bottom = a_low * b_low;
  const uint32_t middle = a_high * b_low + a_low * b_high + (bottom >> 12);
  const uint32_t high = a_high * b_high + (middle >> 12), low = middle << 20 | (bottom & 0xfff) << 8;
  if (high >> 23 != 0) return {high, low, 0};
  return {2 * high + (low >> 31), 2 * low, 1};
}
#endif

// The size of x * reciprocal as a whole number, at most 512, which every bound cuts. x: its bits without the sign, finite and normal.
// `mantissa`, `exponent`: of the reciprocal.
inline int32_t rounded_product(uint32_t x, uint32_t mantissa, int32_t exponent) {
  int32_t shift = 300 - static_cast<int32_t>(x >> 23) - exponent;  // the product is p / 2^shift; 300 = 2 * (127 + 23)
  if (shift > 49) return 0;                                        // below 2^48 / 2^50
  if (shift < 38) return 512;                                      // 2^46 / 2^37 and more
  const Product p = product_of((x & kFraction) | kHidden, mantissa);
  const uint32_t high = p.high + (p.low > 0x80000000u || (p.low == 0x80000000u && (p.high & 1)));
  shift += p.moved - 24;  // 14..26
  return static_cast<int32_t>((high + (1u << (shift - 1)) - 1 + (high >> shift & 1)) >> shift);
}

}  // namespace

void quantize_s8_scalar(const QuantizeArgs& args, const float* x, int8_t* y) {
  const QuantizeArgs a = args;  // for all the compiler knows, y might lie over the arguments
  uint32_t reciprocal;
  std::memcpy(&reciprocal, &a.reciprocal, sizeof reciprocal);
  const uint32_t exponent = reciprocal >> 23;
  if (exponent == 0 || exponent >= kExponent) return quantize_s8(a, x, y);
  const uint32_t mantissa = (reciprocal & kFraction) | kHidden;
  for (int32_t i = 0; i < a.count; ++i) {
    uint32_t bits;
    std::memcpy(&bits, __builtin_assume_aligned(x + i, 4), sizeof bits);  // with Thumb-1 gcc 12 calls memcpy where it is not told
    const uint32_t size = bits & INT32_MAX;
    if (size - kHidden >= (kExponent << 23) - kHidden) {  // zero, denormal, infinite, not a number
      QuantizeArgs one = a;
      one.count = 1;
      if (size == 0) y[i] = static_cast<int8_t>(clamp_to(a.zero, a.low, a.high));
      else quantize_s8(one, x + i, y + i);
      continue;
    }
    const int32_t rounded = rounded_product(size, mantissa, static_cast<int32_t>(exponent));
    y[i] = static_cast<int8_t>(clamp_to((bits >> 31 ? -rounded : rounded) + a.zero, a.low, a.high));
  }
}

}  // namespace deuteron
#endif
