// SPDX-License-Identifier: Apache-2.0
#include "ir/rewrite/affine_rules.h"

#include <algorithm>
#include <cmath>

#include "ir/rewrite/borders.h"
#include "ops/conv2d/add_depthwise.h"
#include "ops/families.h"

namespace deuteron {

namespace {

struct ConstantLine {
  ValueId x = -1;
  ChannelLine line;
  Bounds bounds;
};

// A float constant of one element, or with one for each index of the last of `rank` axes.
std::optional<std::vector<double>> channel_constant(const Graph& g, ValueId v, const Shape& y) {
  const Type& type = g.type(v);
  if (!g.is_constant(v) || type.dtype != DType::f32 || type.rank() > static_cast<i64>(y.size()))
    return std::nullopt;
  const bool fits =
      type.elements() == 1 || (!y.empty() && !type.shape.empty() && type.shape.back() == y.back() &&
                               type.elements() == y.back());
  if (!fits) return std::nullopt;
  const std::span<const float> data = g.values[v].constant->as<float>();
  return std::vector<double>(data.begin(), data.end());
}

// What an operator does with one operand where the others are constants; nothing: no line.
struct LineReader {
  const Graph& g;
  const Node& node;

  std::optional<ConstantLine> operator()(const Pointwise& p) const {
    const auto line = line_of(p.program);
    if (!line) return std::nullopt;
    return ConstantLine{node.inputs[0], {{line->slope}, {line->offset}}, {}};
  }
  std::optional<ConstantLine> operator()(const Add& add) const {
    return with_constant([&](size_t k, std::vector<double> constant) {
      const double alpha = add.alpha;
      if (k == 0)
        for (double& v : constant) v *= alpha;
      return ConstantLine{node.inputs[k], {{k == 0 ? 1 : alpha}, std::move(constant)}, add.bounds};
    });
  }
  std::optional<ConstantLine> operator()(const Mul&) const {
    return with_constant([&](size_t k, std::vector<double> constant) {
      return ConstantLine{node.inputs[k], {std::move(constant), {0}}, {}};
    });
  }
  template <class T>
  std::optional<ConstantLine> operator()(const T&) const {
    return std::nullopt;
  }

 private:
  // `line` of the operand that is computed, and the other.
  template <class Line>
  std::optional<ConstantLine> with_constant(Line line) const {
    const Shape& y = g.type(node.outputs[0]).shape;
    for (size_t k = 0; k < 2; ++k)
      if (auto constant = channel_constant(g, node.inputs[1 - k], y);
          constant && !g.is_constant(node.inputs[k]))
        return line(k, *std::move(constant));
    return std::nullopt;
  }
};
std::optional<ConstantLine> affine_of(const Graph& g, NodeId root) {
  return std::visit(LineReader{g, g.nodes[root]}, g.nodes[root].op);
}

}  // namespace

std::optional<Patch> fold_into_weights(const Graph& g, const Uses& uses, NodeId root,
                                       ValueId layer_result, const ChannelLine& line,
                                       const Bounds& bounds) {
  const NodeId above = uses.producer[layer_result];
  if (above < 0 || !uses.has_single_reader(layer_result)) return std::nullopt;
  const Node& layer = g.nodes[above];
  Op op = layer.op;
  Bounds* own = bounds_of(op);
  if (!own || !own->none()) return std::nullopt;
  const auto is_float = [&](ValueId v) {
    return g.is_constant(v) && g.type(v).dtype == DType::f32;
  };
  const bool only_adds = std::ranges::all_of(
      line.slope, [](double v) { return v == 1; });  // then steps stay the weights
  const GraphValue& weight = g.values[layer.inputs[1]];
  const bool keeps_steps =
      only_adds && !is_float(layer.inputs[1]) && is_constant_like(g, uses, layer.inputs[1]);
  if ((!keeps_steps && !is_float(layer.inputs[1])) ||
      (layer.inputs.size() > 2 && !is_float(layer.inputs[2])))
    return std::nullopt;
  *own = bounds;
  const std::span<const float> w =
      keeps_steps ? std::span<const float>() : weight.constant->as<float>();
  const auto channels = static_cast<size_t>(weight.type.shape[0]);
  const size_t taps = w.size() / channels;
  std::vector<float> folded(w.size()), bias(channels);
  for (size_t c = 0; c < channels; ++c) {
    const double slope = line.slope[line.slope.size() == 1 ? 0 : c],
                 offset = line.offset[line.offset.size() == 1 ? 0 : c];
    for (size_t t = 0; t < taps; ++t)
      folded[c * taps + t] = static_cast<float>(w[c * taps + t] * slope);
    const double old =
        layer.inputs.size() > 2 ? g.values[layer.inputs[2]].constant->as<float>()[c] : 0.0;
    bias[c] = static_cast<float>(old * slope + offset);
  }
  PatchBuilder b(g, root, "folded into the weights before it");
  const ValueId new_weight =
      keeps_steps ? layer.inputs[1]
                  : b.constant(DType::f32, weight.type.shape, std::move(folded), weight.name);
  const ValueId new_bias =
      b.constant(DType::f32, {static_cast<i64>(channels)}, std::move(bias), weight.name + ".bias");
  return b.replace_root(std::move(op), {layer.inputs[0], new_weight, new_bias});
}

std::optional<Patch> fold_affine_into_layer(const Graph& g, const Uses& uses, NodeId root) {
  if (g.nodes[root].inputs.empty() || g.type(g.nodes[root].outputs[0]).dtype != DType::f32)
    return std::nullopt;
  const std::optional<ConstantLine> affine = affine_of(g, root);
  if (!affine || g.type(affine->x).shape != g.type(g.nodes[root].outputs[0]).shape)
    return std::nullopt;
  const NodeId above = uses.producer[affine->x];
  if (above < 0 || !is_layer(g.nodes[above].op) || op_as<ConvTranspose2d>(g, above))
    return std::nullopt;
  return fold_into_weights(g, uses, root, affine->x, affine->line, affine->bounds);
}

std::optional<Patch> scale_to_depthwise(const Graph& g, const Uses& uses, NodeId root) {
  const Node& node = g.nodes[root];
  if (g.type(node.outputs[0]).dtype != DType::f32) return std::nullopt;
  const std::optional<ConstantLine> affine = affine_of(g, root);
  if (!affine || affine->line.slope.size() < 2 ||
      g.type(affine->x).shape != g.type(node.outputs[0]).shape)
    return std::nullopt;
  if (dequantized(g, uses, affine->x) >= 0)
    return std::nullopt;  // a quantized model keeps its parameters
  for (const NodeId n : uses.readers[node.outputs[0]])
    if (quantizes_to(g, n)) return std::nullopt;
  PatchBuilder b(g, root, "");
  return b.replace_root(
      add_depthwise(b, affine->x, {affine->line.slope.begin(), affine->line.slope.end()}, {}));
}

}  // namespace deuteron
