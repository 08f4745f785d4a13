// SPDX-License-Identifier: Apache-2.0
// The one definition of requantization: scale an int32 accumulator by multiplier * 2^(shift-31),
// rounding twice, bit-exact with TFLite's reference (gemmlowp) and CMSIS-NN's default.
// docs/numerics.md, section 2.
#pragma once
#include <cstdint>

namespace deuteron {

// a * b by halves, whose products 32 bits hold: for cores that multiply to 32 bits only, where the
// compiler's library takes twice as long.
struct HighWord {
  int32_t high;
  uint32_t below;  // the upper half of the low word
};
inline HighWord high_word_by_halves(int32_t a, int32_t b) {
  const uint32_t a_low = static_cast<uint16_t>(a), b_low = static_cast<uint16_t>(b);
  const int32_t a_high = a >> 16, b_high = b >> 16;
  const int32_t one =
      a_high * static_cast<int32_t>(b_low) + static_cast<int32_t>(a_low * b_low >> 16);
  const int32_t other = b_high * static_cast<int32_t>(a_low) + static_cast<uint16_t>(one);
  return {a_high * b_high + (one >> 16) + (other >> 16), static_cast<uint16_t>(other)};
}
inline int32_t multiply_high_by_halves(int32_t a, int32_t b) {
  const HighWord product = high_word_by_halves(a, b);
  return static_cast<int32_t>(2 * static_cast<uint32_t>(product.high) +
                              (((product.below >> 14) + 1) >> 1));
}

// Round half up of a*b / 2^31, without saturation: a = b = INT32_MIN wraps. Source: CMSIS-NN
// arm_nn_doubling_high_mult_no_sat. Unsigned, for vectors: AVX2 shifts 64 bits to the right without
// their sign only, and the 32 that are kept are the same.
inline int32_t multiply_high(int32_t a, int32_t b) {
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 1
  return multiply_high_by_halves(a, b);
#else
  return static_cast<int32_t>(
      static_cast<uint64_t>(static_cast<int64_t>(a) * b + (int64_t{1} << 30)) >> 31);
#endif
}

// The same cut off: what lies below 2^31 is lost.
inline int32_t multiply_high_down_by_halves(int32_t a, int32_t b) {
  const HighWord product = high_word_by_halves(a, b);
  return static_cast<int32_t>(2 * static_cast<uint32_t>(product.high) + (product.below >> 15));
}
inline int32_t multiply_high_down(int32_t a, int32_t b) {
#if defined(__ARM_ARCH_ISA_THUMB) && __ARM_ARCH_ISA_THUMB == 1
  return multiply_high_down_by_halves(a, b);
#else
  return static_cast<int32_t>(int64_t{a} * b >> 31);
#endif
}

// x / 2^exponent to nearest, ties away from zero; 0 <= exponent <= 31.
inline int32_t round_shift_right(int32_t x, int exponent) {
  const int32_t mask = static_cast<int32_t>((uint32_t{1} << exponent) - 1);
  const int32_t remainder = x & mask;
  const int32_t quotient = x >> exponent;
  const int32_t threshold = (mask >> 1) + (quotient < 0 ? 1 : 0);
  return quotient + (remainder > threshold ? 1 : 0);
}

// The same with ties up; 1 <= exponent <= 31.
inline int32_t round_up_shift_right(int32_t x, int exponent) {
  return (x >> exponent) + (x >> (exponent - 1) & 1);
}

// shift in -31..30: left if positive (and then wraps, as in CMSIS-NN), right if negative.
inline int32_t requantize(int32_t x, int32_t multiplier, int32_t shift) {
  const int left = shift > 0 ? shift : 0;
  const int right = shift > 0 ? 0 : -shift;
  return round_shift_right(
      multiply_high(static_cast<int32_t>(static_cast<uint32_t>(x) << left), multiplier), right);
}

// requantize() rounded once, halves up, as TFLite does for FULLY_CONNECTED: (x * multiplier + 2^(30
// - shift)) >> (31 - shift). The product loses what lies below 2^31 first, which changes no
// quotient.
inline int32_t requantize_once(int32_t x, int32_t multiplier, int32_t shift) {
  return shift < 0 ? round_up_shift_right(multiply_high_down(x, multiplier), -shift)
                   : requantize(x, multiplier, shift);
}

// Sums of int32, modulo 2^32.
inline int32_t add_wrapping(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}
inline int32_t subtract_wrapping(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) - static_cast<uint32_t>(b));
}

// One operand of an addition: its distance from zero, moved left to keep its low bits, at the scale
// of the sum. Both terms are brought to twice the larger scale with 20 more bits, so that the sum
// stays within int32. Source: TFLite's ADD.
inline constexpr int32_t kPairLeftShift = 20;
inline int32_t aligned_term(int32_t x, int32_t zero, int32_t left_shift, int32_t multiplier,
                            int32_t shift) {
  return requantize((x - zero) * (int32_t{1} << left_shift), multiplier, shift);
}

inline int32_t clamp_to(int32_t x, int32_t low, int32_t high) {
  return x < low ? low : x > high ? high : x;
}
inline int32_t saturate_s16(int32_t v) {
  return v < INT16_MIN ? INT16_MIN : v > INT16_MAX ? INT16_MAX : v;
}
inline int32_t saturate_s32(int64_t v) {
  const int32_t low = static_cast<int32_t>(v), high = static_cast<int32_t>(v >> 32);
  return high == low >> 31 ? low : (high >> 31) ^ INT32_MAX;
}
inline int32_t saturate_s16(int64_t v) { return saturate_s16(saturate_s32(v)); }

// clamp(zero + requantize(sum), low, high); low and high are int8. The zero point is added modulo
// 2^32, as in the stock kernels.
inline int8_t requantize_to_s8(uint32_t sum, int32_t multiplier, int32_t shift, int32_t zero,
                               int32_t low, int32_t high) {
  return static_cast<int8_t>(clamp_to(
      add_wrapping(requantize(static_cast<int32_t>(sum), multiplier, shift), zero), low, high));
}

// The same of a row of sums, each with a multiplier and a shift of its own. y may not overlap them.
inline void requantize_row_to_s8(const uint32_t* sums, const int32_t* multiplier,
                                 const int32_t* shift, int32_t count, int32_t zero, int32_t low,
                                 int32_t high, int8_t* y) {
  for (int32_t i = 0; i < count; ++i)
    y[i] = requantize_to_s8(sums[i], multiplier[i], shift[i], zero, low, high);
}

}  // namespace deuteron
