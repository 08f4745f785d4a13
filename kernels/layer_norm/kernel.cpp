// SPDX-License-Identifier: Apache-2.0
// Portable normalization of rows. Products have 64 bits, but what is kept of them lies in the upper
// word, and roundings are added before they are made: a multiply-accumulate and a shift for each.
#include "kernels/integer/requantize_words.h"
#include "kernels/layer_norm/row.h"

namespace deuteron {
namespace {

// a * b / 2^32, rounded; and the upper word of a * b + high * 2^32 + low, where the lower half of
// `low` is 0.
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 1
inline int32_t rounded_upper_word(int32_t a, int32_t b) {
  const HighWord product = high_word_by_halves(a, b);
  return product.high + static_cast<int32_t>(product.below >> 15);
}
inline int32_t upper_word(int32_t a, int32_t b, int32_t high, uint32_t low) {
  const HighWord product = high_word_by_halves(a, b);
  return product.high + high + static_cast<int32_t>((product.below + (low >> 16)) >> 16);
}
#else
inline int32_t rounded_upper_word(int32_t a, int32_t b) {
  const int64_t product = int64_t{a} * b;
  return static_cast<int32_t>(product >> 32) +
         static_cast<int32_t>(static_cast<uint32_t>(product) >> 31);
}
inline int32_t upper_word(int32_t a, int32_t b, int32_t high, uint32_t low) {
  const auto addend =
      static_cast<int64_t>(static_cast<uint64_t>(static_cast<uint32_t>(high)) << 32 | low);
  return static_cast<int32_t>((int64_t{a} * b + addend) >> 32);
}
#endif

// One half of a quotient of 32 bits, of which `rest` is left: the divisor has its highest bit, and
// rest is below it.
inline uint32_t half_of_quotient(uint32_t divisor, uint32_t& rest) {
  const uint32_t upper = divisor >> 16;
  uint32_t quotient = rest / upper;
  const uint32_t product = quotient * (divisor & 0xffffu);
  rest = (rest - quotient * upper) << 16;
  if (rest < product) {
    --quotient, rest += divisor;
    if (rest >= divisor && rest < product) --quotient, rest += divisor;
  }
  rest -= product;
  return quotient;
}
// floor(2^61 / root), root in 2^30..2^31-1; at most 2^31 - 1. Cores have no division of 64 bits.
int32_t inverse_of(uint32_t root) {
  uint32_t rest = 1u << 30;
  const uint32_t upper = half_of_quotient(2 * root, rest),
                 quotient = (upper << 16) + half_of_quotient(2 * root, rest);
  return static_cast<int32_t>(quotient < 1u << 31 ? quotient : INT32_MAX);
}

// floor(sqrt(v)), 2^60 <= v < 2^62. Its upper half is the root of the upper word, one bit after the
// other; a division of what is left gives the lower half, or one or two more.
uint32_t root_of(uint64_t v) {
  uint32_t upper = 0, left = static_cast<uint32_t>(v >> 32);
  for (uint32_t bit = 1u << 28; bit != 0; bit >>= 2) {
    const bool fits = left >= upper + bit;
    if (fits) left -= upper + bit;
    upper = (upper >> 1) + (fits ? bit : 0);
  }
  const auto below = static_cast<uint32_t>(v);
  const uint32_t dividend = left << 16 | below >> 16, lower = dividend / (2 * upper);
  uint32_t root = (upper << 16) + lower;
  int64_t rest = int64_t{dividend - lower * 2 * upper} * 65536 + (below & 0xffffu) -
                 static_cast<int64_t>(uint64_t{lower} * lower);
  while (rest < 0) rest += 2 * int64_t{--root} + 1;
  return root;
}

inline int32_t norm_from_mean(const NormRow& row, int32_t x) {
  return static_cast<int32_t>(static_cast<uint32_t>(x) * static_cast<uint32_t>(row.step) +
                              static_cast<uint32_t>(row.start));
}

// Where norm_cuts_words().
[[gnu::noinline]] void finish_fast(const NormRow& row, int32_t shift, int32_t y_zero,
                                   int32_t columns, const int8_t* x, const int32_t* weight,
                                   const int32_t* bias, int8_t* y) {
  const int32_t addend = norm_addend(shift, y_zero), step = row.step, start = row.start,
                factor = row.factor;
  for (const int8_t* const end = x + columns; x != end;) {
    const int32_t deviation = rounded_upper_word(norm_from_mean({step, start, 0, 0}, *x++), factor),
                  b = *bias++;
    *y++ = static_cast<int8_t>(
        saturate_s8(upper_word(deviation, *weight++, (b >> (32 - kNormBiasBits)) + addend,
                               static_cast<uint32_t>(b) << kNormBiasBits) >>
                    shift));
  }
}

int64_t rounded(int64_t v, int32_t shift) { return (v + (int64_t{1} << (shift - 1))) >> shift; }

}  // namespace

NormRow norm_row_of(const LayerNormArgs& a, uint32_t values, uint32_t squares) {
  const auto columns = static_cast<uint32_t>(a.columns), zero = static_cast<uint32_t>(a.x_zero);
  // of x, and then of x less its zero point
  squares -= zero * (2 * values - columns * zero), values -= columns * zero;
  const int32_t sum = a.centered ? static_cast<int32_t>(values) : 0;
  uint64_t variance = uint64_t{columns} * squares - static_cast<uint64_t>(int64_t{sum} * sum);
  variance = (variance << a.epsilon_bits) + static_cast<uint64_t>(a.epsilon);
  int32_t factor = 0, left = 0;
  if (variance != 0) {
    for (int32_t bits = 32; bits >= 2; bits /= 2)
      if (variance >> (62 - bits) == 0) variance <<= bits, left += bits;
    factor = inverse_of(root_of(variance));
  }
  // |columns * q - sum| * factor < 2^(28 + down): where less than a word is cut off, that many bits
  // more are there.
  const int32_t down = 41 - (a.epsilon_bits + left) / 2, up = down < 32 ? 32 - down : 0;
  return {static_cast<int32_t>(columns << up),
          static_cast<int32_t>((0u - columns * zero - static_cast<uint32_t>(sum)) << up), factor,
          down + up};
}

void finish_norm(const LayerNormArgs& a, const NormRow& row, const int8_t* x, const int32_t* weight,
                 const int32_t* bias, int8_t* y) {
  const int32_t down = kNormBiasBits + a.shift;
  for (int32_t i = 0; i < a.columns; ++i) {
    const int64_t deviation =
        static_cast<int32_t>(rounded(int64_t{norm_from_mean(row, x[i])} * row.factor, row.down));
    const int64_t v =
        a.y_zero + rounded(deviation * weight[i] + int64_t{bias[i]} * (1 << kNormBiasBits), down);
    y[i] = static_cast<int8_t>(v < -128 ? -128 : v > 127 ? 127 : v);
  }
}

void layer_norm_s8(const LayerNormArgs& a, const int8_t* x, const int32_t* weight,
                   const int32_t* bias, int8_t* y) {
  const int32_t shift = kNormBiasBits + a.shift - 32;
  for (int32_t r = 0; r < a.rows; ++r, x += a.columns, y += a.columns) {
    uint32_t values = 0, squares = 0;
    for (int32_t i = 0; i < a.columns; ++i)
      values += static_cast<uint32_t>(x[i]), squares += static_cast<uint32_t>(x[i] * x[i]);
    const NormRow row = norm_row_of(a, values, squares);
    if (norm_cuts_words(row, shift))
      finish_fast(row, shift, a.y_zero, a.columns, x, weight, bias, y);
    else finish_norm(a, row, x, weight, bias, y);
  }
}

}  // namespace deuteron
