// Dequantization for cores without a floating-point unit: a number of 8 bits times the mantissa is a word, which is rounded as float32 rounds.
#include <cstring>

#include "ops/dequantize/kernel.h"
#include "ops/integer/float_number.h"
#include "runtime/instruction_set.h"

#if defined(DEUTERON_SCALAR)
namespace deuteron {
namespace {

// The bits of v * scale, v 1..255: to nearest, ties to even.
uint32_t product_bits(uint32_t v, const FloatNumber& scale) {
  const uint32_t p = v * scale.mantissa;
  int32_t exponent = scale.exponent;
  while (p >> (exponent - scale.exponent) >= 2 * kHidden) ++exponent;  // to 24 bits
  if (exponent < 1) exponent = 1;                                      // below the normal numbers: fewer
  if (exponent >= 255) return kInfinite;
  const int32_t down = exponent - scale.exponent;
  if (down > 32) return 0;
  if (down == 0) return p + (static_cast<uint32_t>(exponent - 1) << 23);
  const uint32_t whole = down < 32 ? p >> down : 0, rest = p << (32 - down);
  const uint32_t up = rest > 0x80000000u || (rest == 0x80000000u && (whole & 1) != 0);
  return whole + up + (static_cast<uint32_t>(exponent - 1) << 23);  // a carry goes on into the exponent
}

}  // namespace

void dequantize_s8_scalar(const DequantizeArgs& args, const int8_t* x, float* y) {
  const DequantizeArgs a = args;
  uint32_t bits;
  std::memcpy(&bits, &a.scale, sizeof bits);
  const uint32_t sign = bits & 0x80000000u, size = bits ^ sign;
  const FloatNumber scale = size == 0 ? FloatNumber{} : float_number(size);
  for (int32_t i = 0; i < a.count; ++i) {
    const int32_t v = x[i] - a.zero;
    const uint32_t product = v == 0 || size == 0 ? 0 : product_bits(static_cast<uint32_t>(v < 0 ? -v : v), scale);
    const uint32_t result = product | (v < 0 ? sign ^ 0x80000000u : sign);
    std::memcpy(y + i, &result, sizeof result);
  }
}

}  // namespace deuteron
#endif
