// See scales.h. Facts: TFLite's QuantizeMultiplier, GetQuantizedConvolutionMultipler, and the preparation of ADD, SUB, MUL, PRELU, MEAN,
// SOFTMAX.
#include "backends/neutron/scales.h"

#include <algorithm>
#include <cmath>

#include "ops/reduce/multiplier.h"
#include "runtime/requantize.h"

namespace deuteron::neutron {

constexpr i32 kMostShift = 30, kLeastShift = -31;
constexpr i32 kPairLeftShift = 20;

std::optional<Factor> factor_of(double scale) {
  if (!std::isfinite(scale) || scale < 0) return std::nullopt;
  if (scale == 0) return Factor{};
  int exponent = 0;
  auto value = static_cast<i64>(std::round(std::frexp(scale, &exponent) * 2147483648.0));
  if (value == i64{1} << 31) {
    value /= 2;
    ++exponent;
  }
  if (exponent < kLeastShift) return Factor{};
  if (exponent > kMostShift) return std::nullopt;
  return Factor{static_cast<i32>(value), exponent};
}

static float weight_scale(const Quant& w, i64 c) { return w.scale[w.per_channel() ? static_cast<size_t>(c) : 0]; }

std::optional<std::vector<Factor>> convolution_factors(const Quant& x, const Quant& weight, const Quant& y, i64 channels) {
  std::vector<Factor> factors;
  for (i64 c = 0; c < channels; ++c) {
    const auto f =
        factor_of(static_cast<double>(x.scale[0]) * static_cast<double>(weight_scale(weight, c)) / static_cast<double>(y.scale[0]));
    if (!f) return std::nullopt;
    factors.push_back(*f);
  }
  return factors;
}

// TFLite's kernel rounds once, in double. One rounding here too where the factor keeps 19 bits or more without a shift (ops/fixed_point.h
// does the same); smaller factors round twice.
std::optional<std::vector<Factor>> fully_connected_factors(const Quant& x, const Quant& weight, const Quant& y, i64 channels) {
  constexpr double kSmallest = 1.0 / 4096, kOne = 2147483648.0;
  auto factors = convolution_factors(x, weight, y, channels);
  if (!factors) return factors;
  for (i64 c = 0; c < channels; ++c) {
    const double scale = static_cast<double>(x.scale[0]) * static_cast<double>(weight_scale(weight, c)) / static_cast<double>(y.scale[0]);
    const double value = std::round(scale * kOne);
    if (scale >= kSmallest && value < kOne) (*factors)[c] = {static_cast<i32>(value), 0};
  }
  return factors;
}

// The product of the two scales is a float32 one.
std::optional<Factor> matmul_factor(const Quant& x, const Quant& other, const Quant& y) {
  const float product = x.scale[0] * other.scale[0];
  return factor_of(static_cast<double>(product) / static_cast<double>(y.scale[0]));
}

std::optional<PairFactors> pair_factors(PairFn fn, const Quant& x, const Quant& other, const Quant& y) {
  PairFactors p;
  if (fn == PairFn::maximum || fn == PairFn::minimum) return p;
  if (fn == PairFn::mul) {
    const float scale = x.scale[0] * other.scale[0] / y.scale[0];
    const auto f = factor_of(scale);
    if (!f) return std::nullopt;
    p.y = *f;
    return p;
  }
  p.left_shift = kPairLeftShift;
  const double twice = 2.0 * static_cast<double>(std::max(x.scale[0], other.scale[0]));
  const auto fx = factor_of(x.scale[0] / twice), fo = factor_of(other.scale[0] / twice);
  const auto fy = factor_of(twice / (static_cast<double>(1 << kPairLeftShift) * static_cast<double>(y.scale[0])));
  if (!fx || !fo || !fy) return std::nullopt;
  p.x = *fx, p.other = *fo, p.y = *fy;
  return p;
}

static i32 rq(const Factor& f, i32 v) { return requantize(v, f.value, f.shift); }

i32 pair_value(PairFn fn, const PairFactors& f, const Quant& x, const Quant& other, const Quant& y, i32 a, i32 b) {
  const i32 va = a - x.zero_point[0], vb = b - other.zero_point[0];
  switch (fn) {
    case PairFn::add:
      return y.zero_point[0] + rq(f.y, rq(f.x, va * (1 << f.left_shift)) + rq(f.other, vb * (1 << f.left_shift)));
    case PairFn::sub:
      return y.zero_point[0] + rq(f.y, rq(f.x, va * (1 << f.left_shift)) - rq(f.other, vb * (1 << f.left_shift)));
    case PairFn::mul:
      return y.zero_point[0] + rq(f.y, va * vb);
    case PairFn::maximum:
      return std::max(a, b);
    case PairFn::minimum:
      return std::min(a, b);
  }
  return 0;
}

std::optional<PreluFactors> prelu_factors(const Quant& x, const Quant& slope, const Quant& y) {
  const float positive = x.scale[0] / y.scale[0], negative = x.scale[0] * slope.scale[0] / y.scale[0];
  const auto fp = factor_of(positive), fn = factor_of(negative);
  if (!fp || !fn) return std::nullopt;
  return PreluFactors{*fp, *fn};
}

i32 prelu_value(const PreluFactors& f, const Quant& x, const Quant& slope, const Quant& y, i32 a, i32 s) {
  const i32 v = a - x.zero_point[0];
  return y.zero_point[0] + (v >= 0 ? rq(f.positive, v) : rq(f.negative, v * (s - slope.zero_point[0])));
}

std::optional<Factor> mean_factor(const Quant& x, const Quant& y, i64 count) {
  if (!multiplier_fits(static_cast<double>(x.scale[0]) / static_cast<double>(y.scale[0]))) return std::nullopt;
  const Multiplier m = reduce_multiplier(x, y, count);
  return Factor{m.value, m.shift};
}

std::optional<Factor> sum_factor(const Quant& x, const Quant& y) { return mean_factor(x, y, 1); }

// Differences are in Q5.26; what lies below diff_min counts as nothing.
std::optional<SoftmaxFactors> softmax_factors(const Quant& x, float beta) {
  constexpr int kIntegerBits = 5, kFractionBits = 31 - kIntegerBits;
  const double scale = std::min(static_cast<double>(x.scale[0]) * static_cast<double>(beta) * (1 << kFractionBits), 1073741823.0);
  const auto f = factor_of(scale);
  if (!f || f->value == 0 || f->shift < 0) return std::nullopt;
  const double radius = std::floor(((1 << kIntegerBits) - 1) * std::ldexp(1.0, kFractionBits - f->shift));
  return SoftmaxFactors{*f, static_cast<i32>(-std::min(radius, 2147483647.0))};
}

}  // namespace deuteron::neutron
