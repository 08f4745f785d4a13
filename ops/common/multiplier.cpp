// SPDX-License-Identifier: Apache-2.0
#include "ops/common/multiplier.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "kernels/integer/requantize.h"

namespace deuteron {

constexpr double kOne = 2147483648.0;  // of Q0.31
constexpr int kMostShift = 30, kLeastShift = -31;

// std::round takes ties away from zero, std::nearbyint to even.
static double rounded(double v, Ties ties) {
  return ties == Ties::away ? std::round(v) : std::nearbyint(v);
}

std::optional<Multiplier> multiplier_of(double factor, MultiplierForm form) {
  if (!std::isfinite(factor) || factor < 0) return std::nullopt;
  if (factor >= form.least_unshifted)
    if (const double value = rounded(factor * kOne, form.ties); value < kOne)
      return Multiplier{static_cast<i32>(value), 0};
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
  return Refusal{"the ratio of scales does not fit a multiplier", fmt::format("{:g}", factor),
                 "2^30", rule};
}

// Steps of sums that are rounded once, by where they begin. Neither they nor those of requantize()
// ever fall.
static bool gives_the_steps(const Multiplier& m, std::span<const i64> begins, const SumRange& sums,
                            i32 low) {
  const auto step = [&](i64 v) { return requantize(static_cast<i32>(v), m.value, m.shift); };
  for (size_t k = 0; k < begins.size(); ++k) {
    const i32 y = low + static_cast<i32>(k) + 1;
    const i64 v = std::clamp(begins[k], sums.low, sums.high + 1);
    if ((v <= sums.high && step(v) < y) || (v > sums.low && step(v - 1) >= y)) return false;
  }
  return true;
}

std::optional<Multiplier> multiplier_rounding_once(double factor, const SumRange& sums, i32 low,
                                                   i32 high) {
  using Wide = __int128;
  const auto exact = multiplier_of(factor, Ties::away);
  if (!exact || exact->value == 0 || exact->shift > 0 || sums.low < INT32_MIN ||
      sums.high > INT32_MAX)
    return std::nullopt;
  const int t = 31 - exact->shift;
  std::vector<i64> begins;  // of low + 1, low + 2, .. high
  for (i32 y = low + 1; y <= high; ++y) {
    const Wide v = Wide{2 * y - 1} << (t - 1), down = v / exact->value;
    begins.push_back(static_cast<i64>(down + (down * exact->value < v ? 1 : 0)));
  }
  const auto value = static_cast<i64>(std::round(factor * kOne));
  for (const i64 more : {0, 1, -1, 2, -2, 3, -3})
    if (const i64 v = value + more; v > 0 && v <= INT32_MAX)
      if (const Multiplier m{static_cast<i32>(v), 0}; gives_the_steps(m, begins, sums, low))
        return m;
  if (gives_the_steps(*exact, begins, sums, low)) return exact;
  return std::nullopt;
}

double channel_factor(const Quant& x, const Quant& weight, const Quant& y, i64 channel,
                      Product product) {
  const float by = weight.scale[weight.per_channel() ? static_cast<size_t>(channel) : 0];
  const double scale =
      product == Product::single ? x.scale[0] * by : static_cast<double>(x.scale[0]) * by;
  return scale / y.scale[0];
}

Result<std::vector<Multiplier>> channel_multipliers(const Quant& x, const Quant& weight,
                                                    const Quant& y, i64 channels,
                                                    MultiplierForm form, const char* rule,
                                                    Product product) {
  std::vector<Multiplier> result;
  result.reserve(static_cast<size_t>(channels));
  for (i64 c = 0; c < channels; ++c) {
    const double factor = channel_factor(x, weight, y, c, product);
    const std::optional<Multiplier> m = multiplier_of(factor, form);
    if (!m)
      return Refusal{
          "the ratio of scales of channel " + std::to_string(c) + " does not fit a multiplier",
          fmt::format("{:g}", factor), "2^30", rule};
    result.push_back(*m);
  }
  return result;
}

std::optional<Refusal> why_sums_wrap(const LowerContext& c, std::span<const Multiplier> multipliers,
                                     const char* rule) {
  enum { kX, kWeight, kBias };
  constexpr i64 kSteps = 256;  // of a zero point, and what rounding adds
  const std::span<const int8_t> weights = c.data[kWeight]->as<int8_t>();
  const i64 filters = c.in[kWeight].shape[0],
            length = filters > 0 ? static_cast<i64>(weights.size()) / filters : 0;
  const Constant* bias = c.in.size() > kBias ? c.data[kBias] : nullptr;
  if (c.in.size() > kBias && !bias)
    return Refusal{"the bias is computed, and a sum with it may leave int32", "", "", rule};
  for (i64 o = 0; o < filters; ++o) {
    const i32 shift =
        std::max(multipliers[multipliers.size() == 1 ? 0 : static_cast<size_t>(o)].shift, 0);
    const i64 first = bias ? bias->as<i32>()[static_cast<size_t>(o)] : 0;
    const i64 most = (std::numeric_limits<i32>::max() >> shift) - (kSteps >> shift);
    if (length * 255 * 128 + std::abs(first) <= most) continue;
    const SumRange sum =
        sum_range(weights.subspan(static_cast<size_t>(o * length), static_cast<size_t>(length)),
                  c.in[kX].quant, first);
    if (sum.low >= -most && sum.high <= most) continue;
    return Refusal{fmt::format("the sums of filter {} may leave int32{}", o,
                               shift > 0 ? " once they are shifted to the result's scale" : ""),
                   fmt::format("{}..{}", sum.low, sum.high), fmt::format("{}..{}", -most, most),
                   rule};
  }
  return std::nullopt;
}

double product_factor(const Quant& x, const Quant& other, const Quant& y, Rounding rounding,
                      Quotient quotient, double more) {
  if (rounding == Rounding::once)
    return static_cast<double>(x.scale[0]) * other.scale[0] * more / y.scale[0];
  const float product = x.scale[0] * other.scale[0];
  return quotient == Quotient::single ? product / y.scale[0] * more : product * more / y.scale[0];
}

}  // namespace deuteron
