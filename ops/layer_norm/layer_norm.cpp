// SPDX-License-Identifier: Apache-2.0
#include "ops/layer_norm/layer_norm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/l2_normalize/kernel.h"
#include "kernels/layer_norm/kernel.h"
#include "ops/common/refusals.h"

namespace deuteron {

static i64 slice_of(const LayerNorm& a, const Shape& x) {
  return numel(std::span(x).last(static_cast<size_t>(a.axes)));
}

static Result<std::vector<Type>> infer(const LayerNorm& a, TypeView in) {
  if (in.size() < 1 || in.size() > 3)
    return Refusal{"layer_norm takes x, and perhaps weight and bias", std::to_string(in.size()),
                   "3", "layer_norm.operands"};
  if (a.axes < 1 || a.axes > in[0].rank())
    return Refusal{"layer_norm needs axes of x", std::to_string(a.axes),
                   std::to_string(in[0].rank()), "layer_norm.axes"};
  const auto slice = std::span(in[0].shape).last(static_cast<size_t>(a.axes));
  for (size_t k = 1; k < in.size(); ++k)
    if (!std::equal(slice.begin(), slice.end(), in[k].shape.begin(), in[k].shape.end()))
      return Refusal{"weight and bias have the extents of a slice", to_text(in[k].shape),
                     to_text(Shape(slice.begin(), slice.end())), "layer_norm.shape"};
  if (!(a.epsilon >= 0) || !std::isfinite(a.epsilon))
    return Refusal{"epsilon is out of range", fmt::format("{:g}", a.epsilon), "0",
                   "layer_norm.epsilon"};
  return std::vector<Type>{{in[0].dtype, in[0].shape, {}}};
}

// How the sum of variance and epsilon is held: both are in squares of steps of x, times the
// elements of a slice squared.
struct Epsilon {
  int32_t bits;  // behind the point, even
  int64_t value;
};
static std::optional<Epsilon> epsilon_of(const LayerNorm& a, i64 columns, double scale) {
  const double n = static_cast<double>(columns), real = a.epsilon * n * n / (scale * scale),
               most_variance = 65025 * n * n;
  for (int32_t bits = kMostEpsilonBits; bits >= 0; bits -= 2)
    if (std::ldexp(most_variance + real, bits) < 0x1.fffffp61)
      return Epsilon{bits, std::llround(std::ldexp(real, bits))};
  return std::nullopt;
}

// In steps of the result, as whole numbers of 2^-shift; all of them `unless` where there is no
// constant.
static std::vector<i32> in_steps(const Constant* constant, float unless, i64 columns, double step,
                                 int shift) {
  std::vector<i32> steps;
  for (i64 i = 0; i < columns; ++i)
    steps.push_back(static_cast<i32>(std::llround(std::ldexp(
        (constant ? constant->as<float>()[static_cast<size_t>(i)] : unless) / step, shift))));
  return steps;
}

// As TFLite's L2_NORMALIZATION has it.
static std::optional<Lowered> length_call(const LayerNorm& a, const LowerContext& c) {
  const Type &x = c.in[0], &y = c.out[0];
  if (!a.to_length || !is_reference(c.rounding) || y.quant != per_tensor(1.0f / 128, 0) ||
      x.shape.back() > kMostL2Depth)
    return std::nullopt;
  CallBuilder call("deuteron::l2_normalize", c.in.size(), 1);
  call.in(0, plain_face(x.shape))
      .integer(x.quant.zero_point[0])
      .boolean(a.of_bytes)
      .out(0, plain_face(y.shape))
      .may_share(0, 0);
  return call.done();
}

static Result<Lowered> deuteron_call(const LayerNorm& a, const LowerContext& c) {
  const Type &x = c.in[0], &y = c.out[0];
  if (auto r = require_int8(x, "x", "cortex_m.layer_norm.dtype")) return *r;
  if (auto r = require_int8(y, "y", "cortex_m.layer_norm.dtype")) return *r;
  if (auto call = length_call(a, c)) return std::move(*call);
  for (size_t k = 1; k < c.in.size(); ++k)
    if (c.data[k] == nullptr || c.in[k].dtype != DType::f32)
      return Refusal{"weight and bias must be constants", "", "", "cortex_m.layer_norm.weight"};
  const i64 columns = slice_of(a, x.shape);
  if (columns > kMostNormalized)
    return Refusal{"elements of a slice whose squares add up within int32", std::to_string(columns),
                   std::to_string(kMostNormalized), "cortex_m.layer_norm.elements"};
  const std::optional<Epsilon> epsilon = epsilon_of(a, columns, x.quant.scale[0]);
  if (!epsilon)
    return Refusal{"epsilon is too large beside the scale of x", fmt::format("{:g}", a.epsilon),
                   fmt::format("{:g}", x.quant.scale[0]), "cortex_m.layer_norm.epsilon"};
  const Constant *weight = c.in.size() > 1 ? c.data[1] : nullptr,
                 *bias = c.in.size() > 2 ? c.data[2] : nullptr;
  const double step = y.quant.scale[0];
  double most = weight ? 0 : 1;
  for (const Constant* constant : {weight, bias})
    if (constant)
      for (const float v : constant->as<float>())
        most = std::max(most, std::abs(static_cast<double>(v)));
  int exponent = 0;
  std::frexp(most / step, &exponent);  // most / step < 2^exponent
  const int shift = std::min<int>(30 - exponent, kMostNormShift);
  if (!std::isfinite(most / step) || shift < 0)
    return Refusal{"weight or bias is too large beside the scale of the result",
                   fmt::format("{:g}", most), fmt::format("{:g}", step),
                   "cortex_m.layer_norm.scale"};
  CallBuilder call("deuteron::layer_norm", c.in.size(), 1);
  call.in(0, plain_face(x.shape));
  call.constant(DType::s32, {columns}, in_steps(weight, 1, columns, step, shift));
  call.constant(DType::s32, {columns}, in_steps(bias, 0, columns, step, shift));
  call.integer(x.quant.zero_point[0]).integer(y.quant.zero_point[0]).boolean(a.centered);
  call.integer(epsilon->bits)
      .integer(epsilon->value)
      .integer(shift)
      .out(0, plain_face(y.shape))
      .may_share(0, 0);
  return call.done();
}

// ATen's kernel also gives the means and the reciprocals of the roots, which nobody reads.
Result<Lowered> float_form(const LayerNorm& a, const LowerContext& c) {
  if (!a.centered)
    return Refusal{"there is no portable kernel of the RMS norm", "", "", "portable.kernel"};
  const Shape& x = c.in[0].shape;
  const auto kept = static_cast<size_t>(c.in[0].rank() - a.axes);
  Shape statistics(x);
  std::fill(statistics.begin() + static_cast<std::ptrdiff_t>(kept), statistics.end(), 1);
  CallBuilder call("aten::native_layer_norm", c.in.size(), 1);
  call.in(0, plain_face(x)).integers({x.begin() + static_cast<std::ptrdiff_t>(kept), x.end()});
  for (size_t k = 1; k < 3; ++k)
    if (k < c.in.size()) call.in(static_cast<i64>(k), plain_face(c.in[k].shape));
    else call.none();
  call.real(a.epsilon).out(0, plain_face(c.out[0].shape));
  for (int k = 0; k < 2; ++k)
    call.scratch(Type{DType::f32, statistics, {}}, plain_face(statistics));
  return call.done();
}

static constexpr QuantSpec kQuant[] = {
    {DType::s8, Gran::per_tensor},  // x
    {DType::f32, Gran::none},       // weight
    {DType::f32, Gran::none},       // bias
    {DType::s8, Gran::per_tensor},  // y
};

static OpFacts facts_of(const LayerNorm&) { return facts(Family::slices); }
static std::vector<Example<LayerNorm>> examples() {
  return {{"of a row", {}, {{2, 16}, {16}, {16}}},
          {"without a bias", {}, {{3, 5, 12}, {12}}},
          {"without a weight", {1, 1e-3f}, {{2, 3, 5, 7}}},
          {"of two axes", {2, 1e-5f}, {{2, 3, 5}, {3, 5}, {3, 5}}},
          {"by the root of the mean square", {1, 1e-6f, false}, {{4, 9}, {9}}}};
}

const OpDef<LayerNorm>& def_of(const LayerNorm&) {
  static constexpr OpDef<LayerNorm> d{
      .name = "layer_norm",
      .infer = infer,
      .quantize = kQuant,
      .macs = no_macs,
      .execute = execute,
      .cortex_m = deuteron_call,
      .npu = not_on_npu<LayerNorm>("Neutron IR has no normalization by slices"),
      .facts = facts_of,
      .axes = kNoAxisRules<LayerNorm>,
      .view = nullptr,
      .forms = {.simpler = simpler_form, .kernel = nullptr, .last = nullptr, .portable = nullptr},
      .examples = examples,
      .function = nullptr};
  return d;
}

}  // namespace deuteron
