// SPDX-License-Identifier: Apache-2.0
// Dequantization for cores without a floating-point unit: the distance from the zero point times
// the scale's 24 bits fits a word, and is rounded to 24 bits as float32 does, to nearest with ties
// to even. 21 instructions an element on Cortex-M3; the compiler's library takes
// 64. Scales at the ends of float32 have a loop of their own.
#include <cstring>

#include "kernels/dequantize/kernel.h"
#include "kernels/integer/float_number.h"
#include "runtime/instruction_set.h"

#if defined(DEUTERON_SCALAR)
namespace deuteron {
namespace {

constexpr uint32_t kSignOfFloat = 1u << 31;

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

// The bits of v * scale, v 1..255, whatever they are: with fewer than 24 bits below the normal
// numbers, infinite above them.
uint32_t any_scaled_product(uint32_t v, const FloatNumber& scale) {
  const uint32_t p = v * scale.mantissa;
  int32_t exponent = scale.exponent;
  while (p >> (exponent - scale.exponent) >= 2 * kHidden) ++exponent;  // to 24 bits
  if (exponent < 1) exponent = 1;
  if (exponent >= 255) return kInfinite;
  const int32_t down = exponent - scale.exponent;
  if (down > 32) return 0;
  if (down == 0) return p + (static_cast<uint32_t>(exponent - 1) << 23);
  const uint32_t whole = down < 32 ? p >> down : 0, rest = p << (32 - down);
  const uint32_t up = rest > kSignOfFloat || (rest == kSignOfFloat && (whole & 1) != 0);
  return whole + up +
         (static_cast<uint32_t>(exponent - 1) << 23);  // a carry goes on into the exponent
}

void store_bits(uint32_t bits, float* y) {
  float v;
  std::memcpy(&v, &bits, sizeof v);
  *y = v;
}

void dequantize_any(const DequantizeArgs& a, uint32_t size, uint32_t sign, const int8_t* x,
                    float* y) {
  const FloatNumber scale = size == 0 ? FloatNumber{} : float_number(size);
  for (int32_t i = 0; i < a.count; ++i) {
    const int32_t v = x[i] - a.zero;
    const uint32_t product =
        v == 0 || size == 0 ? 0 : any_scaled_product(static_cast<uint32_t>(v < 0 ? -v : v), scale);
    store_bits(product | (v < 0 ? sign ^ kSignOfFloat : sign), y + i);
  }
}

}  // namespace

void dequantize_s8_scalar(const DequantizeArgs& args, const int8_t* x, float* y) {
  const DequantizeArgs a = args;  // for all the compiler knows, y might lie over the arguments
  uint32_t scale;
  std::memcpy(&scale, &a.scale, sizeof scale);
  const uint32_t sign = scale & kSignOfFloat, size = scale ^ sign, exponent = size >> 23,
                 mantissa = (size & (kHidden - 1)) | kHidden;
  constexpr uint32_t kMostAbove = 9;  // bits that a product and its rounding add to the exponent
  if (exponent == 0 || exponent + kMostAbove >= 255) return dequantize_any(a, size, sign, x, y);
  const uint32_t most =
      sign +
      ((exponent + 7)
       << 23);  // of a product of 32 bits, but for its mantissa, whose hidden bit adds to this
  for (int32_t i = a.count; i > 0; --i) {
    const int32_t distance = *x++ - a.zero;
    uint32_t bits = sign;
    if (distance != 0) {
      const uint32_t product =
          static_cast<uint32_t>(distance < 0 ? -distance : distance) * mantissa;
      const int32_t zeros = product_zeros(product);
      const uint32_t all = product << zeros, low = (all & 0xff) + 0x7f + (all >> 8 & 1);
      bits = (all >> 8) + (low >> 8) + most - (static_cast<uint32_t>(zeros) << 23) +
             (static_cast<uint32_t>(distance) & kSignOfFloat);
    }
    store_bits(bits, y++);
  }
}

}  // namespace deuteron
#endif
