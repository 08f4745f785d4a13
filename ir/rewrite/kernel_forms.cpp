// SPDX-License-Identifier: Apache-2.0
#include "ir/rewrite/kernel_forms.h"

#include "ir/rewrite/borders.h"
#include "ops/families.h"

namespace deuteron {

// linear with per-channel weights   becomes   a 1x1 convolution over one row of pixels, which has a
// multiplier for each channel
static std::optional<Patch> linear_to_conv(const Linear& linear, const Graph& g, const Uses&,
                                           NodeId root) {
  const Node& node = g.nodes[root];
  const Type &x = g.type(node.inputs[0]), &w = g.type(node.inputs[1]), &y = g.type(node.outputs[0]);
  if (x.dtype != DType::s8 || !w.quant.per_channel() || w.quant.axis != 0) return std::nullopt;
  const i64 in = w.shape[1], out = w.shape[0], rows = x.elements() / in;
  PatchBuilder b(g, root, "");
  std::vector<ValueId> inputs = node.inputs;
  inputs[0] = b.add(Reshape{{1, rows, 1, in}}, {node.inputs[0]}, x.quant);
  inputs[1] =
      b.add(Reshape{{out, 1, 1, in}}, {node.inputs[1]}, w.quant, g.values[node.inputs[1]].name);
  Conv2d conv;
  conv.bounds = linear.bounds;
  const ValueId pixels = b.add(conv, std::move(inputs), y.quant, g.values[node.outputs[0]].name);
  return b.replace_root(Reshape{y.shape}, {pixels});
}

// linear with an asymmetric weight and neither bias nor bounds   becomes   a matrix product, which
// has an offset for both sides
static std::optional<Patch> linear_to_matmul(const Linear& linear, const Graph& g, const Uses&,
                                             NodeId root) {
  if (!linear.bounds.none() || g.nodes[root].inputs.size() > 2) return std::nullopt;
  const Node& node = g.nodes[root];
  const Type &x = g.type(node.inputs[0]), &w = g.type(node.inputs[1]), &y = g.type(node.outputs[0]);
  if (x.dtype != DType::s8 || w.quant.per_channel() || w.quant.empty() ||
      w.quant.zero_point[0] == 0)
    return std::nullopt;
  const i64 in = w.shape[1], out = w.shape[0], rows = x.elements() / in;
  PatchBuilder b(g, root, "");
  const ValueId left = b.add(Reshape{{1, rows, in}}, {node.inputs[0]}, x.quant);
  const ValueId right =
      b.add(Reshape{{1, out, in}}, {node.inputs[1]}, w.quant, g.values[node.inputs[1]].name);
  const ValueId product = b.add(Matmul{}, {left, right}, y.quant, g.values[node.outputs[0]].name);
  return b.replace_root(Reshape{y.shape}, {product});
}

const Rule kLinearToConv = kRule<linear_to_conv>, kLinearToMatmul = kRule<linear_to_matmul>;

// For stock firmware, which has no int8 kernel of it: an int8 operator that interpolates   becomes
// the same in float, without the rounding where float comes from or goes to
std::optional<Patch> bilinear_in_float(const Graph& g, const Uses& uses, NodeId root) {
  if (facts_of(g.nodes[root].op).values != Values::interpolated) return std::nullopt;
  const Node& node = g.nodes[root];
  const ValueId x = node.inputs[0], old = node.outputs[0];
  if (g.type(x).dtype != DType::s8 || g.type(x).quant.empty() || g.type(old).quant.empty())
    return std::nullopt;
  const std::string& name = g.values[old].name;
  const NodeId above = uses.producer[x];
  PatchBuilder b(g, root, "");
  // TFLite rounds its operand and its result, whatever stands around them.
  const bool rounds = g.numerics == Numerics::tflite;
  const ValueId real = quantizes_to(g, above) && !rounds
                           ? g.nodes[above].inputs[0]
                           : b.add(Dequantize{}, {x}, {}, g.values[x].name + "_float");
  const ValueId y = b.add(node.op, {real}, {}, name + "_float");
  bool wants_steps = uses.output_uses[old] != 0;
  for (const NodeId n : uses.readers[old]) {
    if (is_dequantize(g.nodes[n].op) && !rounds) b.replace(g.nodes[n].outputs[0], y);
    else wants_steps = true;
  }
  if (wants_steps) b.replace(old, b.add(Quantize{g.type(old).quant}, {y}, g.type(old).quant, name));
  return b.done();
}

}  // namespace deuteron
