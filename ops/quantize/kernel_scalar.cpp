// Quantization for Cortex-M3, which has no floating-point unit: the product is rounded to 24 bits, as float32 does, then to a whole number,
// both to nearest with ties to even, in integers. 30 instructions an element; the compiler's library takes 290.
#include "runtime/instruction_set.h"

#if defined(DEUTERON_THUMB2)
#include <cstring>

#include "ops/integer/requantize.h"
#include "ops/quantize/kernel.h"

namespace deuteron {
namespace {

constexpr uint32_t kExponent = 0xff, kHidden = 1u << 23, kFraction = kHidden - 1;  // of float32: 8 bits above 23

// The size of x * reciprocal as a whole number, at most 512, which every bound cuts. x: its bits without the sign, finite and normal.
// `mantissa`, `exponent`: of the reciprocal.
inline int32_t rounded_product(uint32_t x, uint32_t mantissa, int32_t exponent) {
  int32_t shift = 300 - static_cast<int32_t>(x >> 23) - exponent;            // the product is p / 2^shift; 300 = 2 * (127 + 23)
  if (shift > 49) return 0;                                                  // below 2^48 / 2^50
  if (shift < 38) return 512;                                                // 2^46 / 2^37 and more
  uint64_t p = static_cast<uint64_t>((x & kFraction) | kHidden) * mantissa;  // 2^46 .. 2^48
  if (p >> 47 == 0) p <<= 1, ++shift;
  uint32_t high = static_cast<uint32_t>(p >> 24);
  const uint32_t low = static_cast<uint32_t>(p) << 8;  // what is cut off, at the top of the word
  high += low > 0x80000000u || (low == 0x80000000u && (high & 1));
  shift -= 24;  // 14..26
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
    std::memcpy(&bits, x + i, sizeof bits);
    const uint32_t size = bits & INT32_MAX;
    if (size - kHidden >= (kExponent << 23) - kHidden) {  // zero, denormal, infinite, not a number
      QuantizeArgs one = a;
      one.count = 1;
      if (size == 0) y[i] = static_cast<int8_t>(clamp_to(a.zero, a.low, a.high));
      else quantize_s8(one, x + i, y + i);
      continue;
    }
    const int32_t v = rounded_product(size, mantissa, static_cast<int32_t>(exponent));
    y[i] = static_cast<int8_t>(clamp_to((bits >> 31 ? -v : v) + a.zero, a.low, a.high));
  }
}

}  // namespace deuteron
#endif
