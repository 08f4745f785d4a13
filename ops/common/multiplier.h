// SPDX-License-Identifier: Apache-2.0
// Real factors as the integers that kernels compute with: factor ~= value * 2^(shift - 31). Every
// multiplier of the CPU's kernels, of their references and of the NPU's calls comes from here.
// Formulas: docs/numerics.md, section 2.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "ops/common/sum_range.h"

namespace deuteron {

struct Multiplier {
  i32 value = 0, shift = 0;
  bool operator==(const Multiplier&) const = default;
};

// The 31 bits of a factor that lies exactly between two. to_even: ExecuTorch's cortex_m dialect,
// which is compiled in Python with its round(). away: TFLite's QuantizeMultiplier, and so the NPU's
// converter. tests/stock/rounding.py asks both.
enum class Ties : u8 { to_even, away };

// least_unshifted: shift 0 for factors from here to 1. Then the shifts of all layers are one
// constant in the file, and the accumulator is rounded once. From 2^-16 on at least 15 bits of the
// factor are left, which moves an int8 result by 2^-8 of a step at most; from 2^-12 on 19 bits,
// which gives TFLite's bits of a layer that it rounds once but next to a tie:
// multiplier_rounding_once().
struct MultiplierForm {
  constexpr MultiplierForm(Ties of_ties, double least = 1)
      : ties(of_ties), least_unshifted(least) {}
  MultiplierForm(Ties, bool) = delete;  // true is no factor

  Ties ties;
  double least_unshifted;
};
inline constexpr double kUnshiftedOfInt8 = 0x1p-16, kUnshiftedOfTflite = 0x1p-12;
inline Ties ties_of(Rounding rounding) {
  return rounding == Rounding::once ? Ties::to_even : Ties::away;
}
// Of a layer that rounds once whatever the rounding.
inline MultiplierForm unshifted_form_of(Rounding rounding) {
  return MultiplierForm(ties_of(rounding),
                        rounding == Rounding::once ? kUnshiftedOfInt8 : kUnshiftedOfTflite);
}
inline MultiplierForm form_of(Rounding rounding) {
  const bool once = rounding == Rounding::once || rounding == Rounding::reference_once;
  return once ? unshifted_form_of(rounding) : MultiplierForm{ties_of(rounding)};
}

// Below 2^-32 every accumulator would round to zero: {0, 0}. Nothing for a factor that is negative,
// not finite, or 2^30 or more.
std::optional<Multiplier> multiplier_of(double factor, MultiplierForm form);
inline std::optional<Multiplier> multiplier_of(double factor, Ties ties) {
  return multiplier_of(factor, MultiplierForm{ties});
}

// The same with a refusal in place of nothing.
Result<Multiplier> checked_multiplier(double factor, MultiplierForm form, const char* rule);
inline Result<Multiplier> checked_multiplier(double factor, Ties ties, const char* rule) {
  return checked_multiplier(factor, MultiplierForm{ties}, rule);
}

// For sums of which TFLite rounds (v * M + 2^(t-1)) >> t, M of 31 bits, once: with what
// requantize(), which rounds twice or has fewer bits, gives the same steps for every sum whose step
// is low..high. Nothing where none of those tried does.
std::optional<Multiplier> multiplier_rounding_once(double factor, const SumRange& sums, i32 low,
                                                   i32 high);

// Of an output channel of a convolution or linear layer: x.scale * weight.scale[channel] / y.scale,
// in double. TFLite forms the product of a convolution of uint8 in float32 (Product::single).
enum class Product : u8 { wide, single };
double channel_factor(const Quant& x, const Quant& weight, const Quant& y, i64 channel,
                      Product product = Product::wide);
// For each of them.
Result<std::vector<Multiplier>> channel_multipliers(const Quant& x, const Quant& weight,
                                                    const Quant& y, i64 channels,
                                                    MultiplierForm form, const char* rule,
                                                    Product product = Product::wide);

// Why a sum of a layer in int32 may wrap, of x, a constant weight of int8 whose filters follow one
// another, and perhaps a bias; or what a positive shift makes of one, or the result's zero point.
// Nothing: whatever x holds, none does. `multipliers`: one, or one for each filter.
std::optional<Refusal> why_sums_wrap(const LowerContext& c, std::span<const Multiplier> multipliers,
                                     const char* rule);

// x.scale * other.scale * more / y.scale of a product of two tensors. TFLite forms the product of
// scales in float32, and the quotient of an elementwise product too (Quotient::single).
enum class Quotient : u8 { single, wide };
double product_factor(const Quant& x, const Quant& other, const Quant& y, Rounding rounding,
                      Quotient quotient, double more = 1);

}  // namespace deuteron
