// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/channel_lines.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/all.h"
#include "ops/common/elementwise.h"
#include "ops/families.h"

namespace deuteron {

namespace {

constexpr i64 kMostChannels = 4096;  // each has two floats in the program

// The elements of a float constant for the last axes of `y`, from the first on along which it
// changes.
std::optional<std::vector<double>> constant_channels(const Graph& g, ValueId v, const Shape& y) {
  const Type& type = g.type(v);
  if (!g.is_constant(v) || type.dtype != DType::f32 || type.rank() > static_cast<i64>(y.size()))
    return std::nullopt;
  const std::span<const float> data = g.values[v].constant->as<float>();
  const Axes steps = broadcast_steps(type.shape, y);
  const auto first = std::ranges::find_if(steps, [](i64 step) { return step != 0; });
  const Shape channels(y.begin() + (first - steps.begin()), y.end());
  const i64 count = first == steps.end() ? 1 : numel(channels);
  if (count < 1 || count > kMostChannels) return std::nullopt;
  std::vector<double> all;
  for (i64 i = 0; i < count; ++i) {
    i64 at = 0, rest = i;
    for (size_t k = channels.size(); count > 1 && k-- > 0; rest /= channels[k])
      at += rest % channels[k] * first[static_cast<i64>(k)];
    all.push_back(data[static_cast<size_t>(at)]);
  }
  return all;
}

std::optional<ChannelLine> line(const Graph&, const Node&, ValueId, const auto&) {
  return std::nullopt;
}

std::optional<ChannelLine> line(const Graph&, const Node&, ValueId, const Pointwise& a) {
  const auto line = line_of(a.program);
  if (!line) return std::nullopt;
  return ChannelLine{{line->slope}, {line->offset}};
}

std::optional<ChannelLine> line(const Graph& g, const Node& node, ValueId x, const Add& a) {
  const size_t k = node.inputs[0] == x ? 0 : 1;
  auto constant = constant_channels(g, node.inputs[1 - k], g.type(node.outputs[0]).shape);
  if (!constant || !a.bounds.none()) return std::nullopt;
  const double alpha = a.alpha;
  if (k == 0)
    for (double& v : *constant) v *= alpha;
  return ChannelLine{std::vector<double>(constant->size(), k == 0 ? 1 : alpha), *constant};
}

std::optional<ChannelLine> line(const Graph& g, const Node& node, ValueId x, const Mul&) {
  const auto constant =
      constant_channels(g, node.inputs[node.inputs[0] == x ? 1 : 0], g.type(node.outputs[0]).shape);
  if (!constant) return std::nullopt;
  return ChannelLine{*constant, std::vector<double>(constant->size(), 0)};
}

// A product and a sum for each channel.
std::optional<ChannelLine> line(const Graph& g, const Node& node, ValueId x, const Conv2d& a) {
  const i64 channels = g.type(x).shape.back();
  Conv2d plain;
  plain.groups = channels;
  if (!(a == plain) || channels > kMostChannels ||
      g.type(node.inputs[1]).shape != Shape{channels, 1, 1, 1})
    return std::nullopt;
  for (size_t k = 1; k < node.inputs.size(); ++k)
    if (!g.is_constant(node.inputs[k]) || g.type(node.inputs[k]).dtype != DType::f32)
      return std::nullopt;
  const auto numbers = [&](size_t k) {
    const std::span<const float> data = g.values[node.inputs[k]].constant->as<float>();
    return std::vector<double>(data.begin(), data.end());
  };
  return ChannelLine{numbers(1), node.inputs.size() > 2
                                     ? numbers(2)
                                     : std::vector<double>(static_cast<size_t>(channels), 0)};
}

// Views keep the order of elements.
std::optional<ChannelLine> line(const Graph&, const Node&, ValueId, const Reshape&) {
  return ChannelLine{{1}, {0}};
}

std::optional<double> alpha(const auto&) { return std::nullopt; }
std::optional<double> alpha(const Add& a) { return a.alpha; }

bool multiplies(const auto&) { return false; }
bool multiplies(const Mul&) { return true; }

}  // namespace

std::optional<ChannelLine> line_of(const Graph& g, const Node& node, ValueId x) {
  const Type &from = g.type(x), &to = g.type(node.outputs[0]);
  if (node.outputs.size() != 1 || to.dtype != DType::f32 || from.dtype != DType::f32 ||
      from.elements() != to.elements())
    return std::nullopt;
  if (std::ranges::count(node.inputs, x) != 1) return std::nullopt;
  return std::visit([&](const auto& op) { return line(g, node, x, op); }, node.op);
}

Op reshape_to(const Shape& shape) { return Reshape{shape}; }

Op relu() { return Clamp{Bounds{0, std::numeric_limits<float>::infinity()}}; }

Op times(double factor) {
  Pointwise product;
  PointStep& step = product.program.steps.emplace_back();
  step.fn = PointFn::mul;
  step.b = {PointOperand::kNumber, static_cast<float>(factor)};
  return product;
}

std::optional<double> alpha_of_sum(const Op& op) {
  return std::visit([](const auto& a) { return alpha(a); }, op);
}
bool is_plain_sum(const Op& op) { return alpha_of_sum(op) && bounds_of(op)->none(); }
bool is_product(const Op& op) {
  return std::visit([](const auto& a) { return multiplies(a); }, op);
}

bool is_homogeneous(const Op& op) {
  if (facts_of(op).family != Family::elementwise) return false;
  constexpr float kAt[] = {-5, -3, -1, -0.3f, 0, 0.2f, 0.7f, 1, 2, 6}, kFactors[] = {0.25f, 64};
  constexpr size_t kCount = std::size(kAt);
  const auto of = [&](float factor) {
    const Type type{DType::f32, {static_cast<i64>(kCount)}, {}};
    std::vector<float> x, y(kCount);
    for (const float v : kAt) x.push_back(factor * v);
    execute(op, std::vector<HostTensor>{{&type, x.data()}},
            std::vector<HostTensor>{{&type, y.data()}});
    return y;
  };
  const std::vector<float> y = of(1);
  for (const float factor : kFactors) {
    const std::vector<float> scaled = of(factor);
    for (size_t i = 0; i < kCount; ++i)
      if (!(std::abs(scaled[i] - factor * y[i]) <= 1e-5f * factor * std::abs(y[i]))) return false;
  }
  return true;
}

bool only_moves(const Node& node) {
  const Values values = facts_of(node.op).values;
  return is_movement(node.op) && (values == Values::moved || values == Values::same) &&
         node.outputs.size() == 1;
}

bool is_of_elements(const Node& node) {
  const Family family = facts_of(node.op).family;
  return (family == Family::elementwise || family == Family::binary) && node.outputs.size() == 1;
}

std::optional<ChannelLine> composed(const ChannelLine& a, const ChannelLine& b) {
  const size_t n = a.slope.size(), m = b.slope.size(), count = std::max(n, m);
  if (count % n != 0 || count % m != 0) return std::nullopt;
  ChannelLine both;
  for (size_t i = 0; i < count; ++i) {
    both.slope.push_back(b.slope[i % m] * a.slope[i % n]);
    both.offset.push_back(b.slope[i % m] * a.offset[i % n] + b.offset[i % m]);
  }
  return both;
}

}  // namespace deuteron
