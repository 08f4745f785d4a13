// Dequantization for cores without a floating-point unit: the distance from the zero point times the scale's 24 bits fits a word, and is
// rounded to 24 bits as float32 does, to nearest with ties to even. 21 instructions an element on Cortex-M3; the compiler's library takes
// 64.
#include "runtime/instruction_set.h"

#if defined(DEUTERON_SCALAR)
#include <cstring>

#include "ops/dequantize/kernel.h"

namespace deuteron {
namespace {

constexpr uint32_t kScaleExponent = 0xff, kScaleHidden = 1u << 23, kScaleFraction = kScaleHidden - 1,
                   kScaleSign = 1u << 31;  // of float32: 8 bits above 23

inline int32_t product_zeros(uint32_t product) {  // of at least 2^23
#if DEUTERON_SCALAR >= 2
  return __builtin_clz(product);
#else
  int32_t zeros = 0;
  if (product < 1u << 28) zeros += 4, product <<= 4;
  if (product < 1u << 30) zeros += 2, product <<= 2;
  return product < 1u << 31 ? zeros + (product < 1u << 30 ? 2 : 1) : zeros;
#endif
}

}  // namespace

void dequantize_s8_scalar(const DequantizeArgs& args, const int8_t* x, float* y) {
  const DequantizeArgs a = args;  // for all the compiler knows, y might lie over the arguments
  uint32_t scale;
  std::memcpy(&scale, &a.scale, sizeof scale);
  const uint32_t sign = scale & kScaleSign, exponent = scale >> 23 & kScaleExponent, mantissa = (scale & kScaleFraction) | kScaleHidden;
  constexpr uint32_t kMostAbove = 9;  // bits that a product and its rounding add to the exponent
  if (exponent == 0 || exponent + kMostAbove >= kScaleExponent) return dequantize_s8(a, x, y);
  const uint32_t most = sign + ((exponent + 7) << 23);  // of a product of 32 bits, but for its mantissa, whose hidden bit adds to this
  for (int32_t i = a.count; i > 0; --i) {
    const int32_t distance = *x++ - a.zero;
    uint32_t bits = sign;
    if (distance != 0) {
      const uint32_t product = static_cast<uint32_t>(distance < 0 ? -distance : distance) * mantissa;
      const int32_t zeros = product_zeros(product);
      const uint32_t all = product << zeros, low = (all & 0xff) + 0x7f + (all >> 8 & 1);
      bits = (all >> 8) + (low >> 8) + most - (static_cast<uint32_t>(zeros) << 23) + (static_cast<uint32_t>(distance) & kScaleSign);
    }
    float v;
    std::memcpy(&v, &bits, sizeof v);
    *y++ = v;
  }
}

}  // namespace deuteron
#endif
