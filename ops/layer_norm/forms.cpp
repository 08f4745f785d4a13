// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/layer_norm/kernel.h"
#include "ops/conv2d/add_depthwise.h"
#include "ops/form.h"
#include "ops/quantize/rounded.h"

namespace deuteron {

// layer_norm(x, weight, bias)   becomes   deviation * rsqrt(mean(deviation^2) + epsilon) * weight +
// bias, with deviation = x - mean(x)
bool parts_form(const LayerNorm& a, FormBuilder& b) {
  if (b.result().dtype != DType::f32) return false;
  Axes axes(static_cast<size_t>(a.axes));
  std::iota(axes.begin(), axes.end(), b.type(0).rank() - a.axes);
  const auto add = [&](Op op, std::vector<ValueId> inputs, const char* part) {
    return b.add(std::move(op), std::move(inputs), {}, b.result_name() + part);
  };
  ValueId deviation = 0;
  if (a.centered) {
    Add difference;
    difference.alpha = -1;
    deviation = add(difference, {0, add(Reduce{Reduce::kMean, axes}, {0}, ".mean")}, ".deviation");
  }
  const ValueId squared = add(Unary{UnaryFn::pow, 2}, {deviation}, ".squared");
  const ValueId variance = add(Reduce{Reduce::kMean, axes}, {squared}, ".variance");
  const ValueId epsilon =
      b.constant(DType::f32, {}, std::vector<float>{a.epsilon}, b.result_name() + ".eps");
  const ValueId root =
      add(Unary{UnaryFn::rsqrt, 0}, {add(Add{}, {variance, epsilon}, ".plus_eps")}, ".rsqrt");
  ValueId y = add(Mul{}, {deviation, root}, ".normalized");
  if (b.operands() > 1) y = add(Mul{}, {y, 1}, ".times_weight");
  if (b.operands() > 2) y = add(Add{}, {y, 2}, ".plus_bias");
  return b.finish(y);
}

// parts_form where our kernel does not take it: a slice too long for sums in int32, a weight or a
// bias that is computed.
bool simpler_form(const LayerNorm& a, FormBuilder& b) {
  const Shape& x = b.type(0).shape;
  bool fits = numel(std::span(x).last(static_cast<size_t>(a.axes))) <= kMostNormalized;
  for (const FormOperand& o : b.site().operands.subspan(1)) fits &= o.data || o.steps_data;
  return !fits && parts_form(a, b);
}

// What the parameters of x and y say of a layer norm: bounds of the values between.
//
// A, the largest |x|. The mean of a slice lies within A/4 of zero, or as far again as the middle of
// x's range lies from it. So a deviation is at most D, A and that together, and never more than the
// width of the range. Z, the largest normalized value that y can tell from a larger one, in the
// channels whose weights count (half of the largest or more); by definition at most sqrt(n - 1) for
// n elements. Where D and Z belong to one slice, its standard deviation is D/Z. Variances reach up
// to (2 D/Z)^2, and no further than (width / 2)^2, which is Popoviciu's bound for any n numbers.
// The reciprocals of the deviations reach up to 4 Z/D: slices that vary less than a fourth of that
// come out smaller than they are.
struct PartsQuant {
  Quant mean, deviation, squared, variance, root, normalized;
};
constexpr float kMeanShare = 0.25f, kMostVariation = 2, kLeastVariation = 0.25f;

static std::optional<float> largest_normalized(const Quant& y, std::span<const float> weight,
                                               std::span<const float> bias, i64 columns) {
  float heaviest = weight.empty() ? 1.0f : 0.0f, most = 0;
  for (const float w : weight) heaviest = std::max(heaviest, std::abs(w));
  if (!(heaviest > 0) || !std::isfinite(heaviest)) return std::nullopt;
  for (size_t c = 0; c < static_cast<size_t>(columns); ++c) {
    const float w = weight.empty() ? 1.0f : weight[c], offset = bias.empty() ? 0.0f : bias[c];
    if (std::abs(w) < heaviest / 2) continue;
    for (const i32 step : {y.low, y.high})
      most = std::max(most, std::abs((real_of(y, step) - offset) / w));
  }
  most = std::min(most, std::sqrt(static_cast<float>(columns - 1)));
  return most > 0 && std::isfinite(most) ? std::optional(most) : std::nullopt;
}

static PartsQuant parts_quant(const LayerNorm& norm, const Quant& x, float normalized) {
  const float low = real_of(x, x.low), high = real_of(x, x.high), width = high - low,
              largest = std::max(-low, high);
  const float mean = kMeanShare * largest + std::abs(low + high) / 2;
  const float deviation = norm.centered ? std::min(width, largest + mean) : largest;
  const float usual = deviation / normalized;
  const float any = norm.centered ? width / 2 : largest;
  const float variance = std::min(std::pow(kMostVariation * usual, 2.0f), any * any) + norm.epsilon;
  const float root = std::min(1 / (kLeastVariation * usual), 1 / std::sqrt(norm.epsilon));
  return {quant_over(-mean, mean),
          quant_over(-deviation, deviation),
          quant_over(0, deviation * deviation),
          quant_over(0, variance),
          quant_over(0, root),
          quant_over(-normalized, normalized)};
}

// deviation * rsqrt(mean(deviation^2) + epsilon) * weight + bias, rounded after each step. Of
// slices along one axis. An epsilon of less than half a step of the variance moves nothing and is
// left out. What has TFLite's arithmetic keeps it.
bool rounded_parts_form(const LayerNorm& a, FormBuilder& b) {
  const FormOperand& x = b.site().operands[0];
  const Type* wanted = b.site().result_steps;
  if (a.axes != 1 || a.to_length || !x.steps || !wanted || x.steps->dtype != DType::s8 ||
      wanted->dtype != DType::s8)
    return false;
  if (x.steps->quant.per_channel() || wanted->quant.per_channel()) return false;
  std::vector<float> weight, bias;
  for (size_t k = 1; k < b.operands(); ++k) {
    const Constant* data = b.data(static_cast<ValueId>(k));
    if (!data || b.type(static_cast<ValueId>(k)).dtype != DType::f32) return false;
    const std::span<const float> numbers = data->as<float>();
    (k == 1 ? weight : bias).assign(numbers.begin(), numbers.end());
  }
  const Shape shape = b.type(0).shape;
  const std::optional<float> normalized =
      largest_normalized(wanted->quant, weight, bias, shape.back());
  if (!normalized) return false;
  const PartsQuant q = parts_quant(a, x.steps->quant, *normalized);
  const Axes last{static_cast<i64>(shape.size()) - 1};
  const auto part = [&](Op op, std::vector<ValueId> inputs, const Quant& quant, const char* name) {
    return rounded(b, b.add(std::move(op), std::move(inputs), {}, b.result_name() + name), quant);
  };
  ValueId deviation = 0;
  if (a.centered) {
    Add difference;
    difference.alpha = -1;
    deviation = part(difference, {0, part(Reduce{Reduce::kMean, last}, {0}, q.mean, ".mean")},
                     q.deviation, ".deviation");
  }
  const ValueId squared = part(Mul{}, {deviation, deviation}, q.squared, ".squared");
  ValueId variance = part(Reduce{Reduce::kMean, last}, {squared}, q.variance, ".variance");
  if (a.epsilon >= q.variance.scale[0] / 2) {
    const ValueId epsilon =
        b.constant(DType::f32, {1}, std::vector<float>{a.epsilon}, b.result_name() + ".eps");
    variance = part(Add{}, {variance, epsilon}, q.variance, ".plus_eps");
  }
  const ValueId root = part(Unary{UnaryFn::rsqrt, 0}, {variance}, q.root, ".rsqrt");
  if (weight.empty()) return b.finish(Mul{}, {deviation, root});
  const ValueId y = part(Mul{}, {deviation, root}, q.normalized, ".normalized");
  return b.finish(
      add_rounded_depthwise(b, y, weight, std::move(bias), wanted->quant, b.result_name()));
}

}  // namespace deuteron
