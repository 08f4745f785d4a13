#include "ops/integer/multiplier.h"

#include <fmt/format.h>

#include <cmath>

namespace deuteron {

constexpr double kOne = 2147483648.0;  // of Q0.31
constexpr int kMostShift = 30, kLeastShift = -31;

// std::round takes ties away from zero, std::nearbyint to even.
static double rounded(double v, Ties ties) { return ties == Ties::away ? std::round(v) : std::nearbyint(v); }

std::optional<Multiplier> multiplier_of(double factor, MultiplierForm form) {
  if (!std::isfinite(factor) || factor < 0) return std::nullopt;
  if (factor >= form.least_unshifted)
    if (const double value = rounded(factor * kOne, form.ties); value < kOne) return Multiplier{static_cast<i32>(value), 0};
  int exponent = 0;
  auto value = static_cast<i64>(rounded(std::frexp(factor, &exponent) * kOne, form.ties));
  if (value == i64{1} << 31) {
    value /= 2;
    ++exponent;
  }
  if (exponent < kLeastShift) return Multiplier{};
  if (exponent > kMostShift) return std::nullopt;
  return Multiplier{static_cast<i32>(value), exponent};
}

Result<Multiplier> checked_multiplier(double factor, MultiplierForm form, const char* rule) {
  if (const std::optional<Multiplier> m = multiplier_of(factor, form)) return *m;
  return Refusal{"the ratio of scales does not fit a multiplier", fmt::format("{:g}", factor), "2^30", rule};
}

Result<std::vector<Multiplier>> channel_multipliers(const Quant& x, const Quant& weight, const Quant& y, i64 channels, MultiplierForm form,
                                                    const char* rule) {
  std::vector<Multiplier> result;
  result.reserve(static_cast<size_t>(channels));
  for (i64 c = 0; c < channels; ++c) {
    const double factor = static_cast<double>(x.scale[0]) * weight.scale[weight.per_channel() ? c : 0] / y.scale[0];
    const std::optional<Multiplier> m = multiplier_of(factor, form);
    if (!m)
      return Refusal{"the ratio of scales of channel " + std::to_string(c) + " does not fit a multiplier", fmt::format("{:g}", factor),
                     "2^30", rule};
    result.push_back(*m);
  }
  return result;
}

double product_factor(const Quant& x, const Quant& other, const Quant& y, Rounding rounding, Quotient quotient, double more) {
  if (rounding == Rounding::once) return static_cast<double>(x.scale[0]) * other.scale[0] * more / y.scale[0];
  const float product = x.scale[0] * other.scale[0];
  return quotient == Quotient::single ? product / y.scale[0] * more : product * more / y.scale[0];
}

}  // namespace deuteron
