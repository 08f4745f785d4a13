#include "rewrite/resize_forms.h"

#include "rewrite/view_rules.h"

namespace deuteron {
namespace {

// nearest resize2d   becomes   gathers of rows and columns: copies, in any type
std::optional<Patch> nearest_to_gathers(const Graph& g, const Uses&, NodeId root) {
  const Resize2d* resize = op_as<Resize2d>(g, root);
  if (!resize || resize->mode != Resize2d::kNearest) return std::nullopt;
  const Node& node = g.nodes[root];
  const Type& x = g.type(node.inputs[0]);
  PatchBuilder b(g, root, "resizes to the extents that it has");
  ValueId v = node.inputs[0];
  Axes rows = nearest_sources(*resize, x.shape[1], resize->size.h), columns = nearest_sources(*resize, x.shape[2], resize->size.w);
  const bool moves_rows = !is_identity(rows) || resize->size.h != x.shape[1];
  const bool moves_columns = !is_identity(columns) || resize->size.w != x.shape[2];
  if (moves_rows) v = b.add(Gather{1, std::move(rows)}, {v}, x.quant);
  if (moves_columns) v = b.add(Gather{2, std::move(columns)}, {v}, x.quant);
  return b.replace_root(v);
}

// bilinear resize2d on int8   becomes   the same in float, without the rounding where float comes from or goes to
std::optional<Patch> bilinear_in_float(const Graph& g, const Uses& uses, NodeId root) {
  const Resize2d* resize = op_as<Resize2d>(g, root);
  if (!resize || resize->mode != Resize2d::kBilinear) return std::nullopt;
  const Node& node = g.nodes[root];
  const ValueId x = node.inputs[0], old = node.outputs[0];
  if (g.type(x).dtype != DType::s8) return std::nullopt;
  const std::string& name = g.values[old].name;
  const NodeId above = producer_as<Quantize>(g, uses, x);
  PatchBuilder b(g, root, "");
  const ValueId real = above >= 0 ? g.nodes[above].inputs[0] : b.add(Dequantize{}, {x}, {}, g.values[x].name + "_float");
  const ValueId y = b.add(*resize, {real}, {}, name + "_float");
  bool wants_steps = uses.output_uses[old] != 0;
  for (const NodeId n : uses.readers[old]) {
    if (op_as<Dequantize>(g, n)) b.replace(g.nodes[n].outputs[0], y);
    else wants_steps = true;
  }
  if (wants_steps) b.replace(old, b.add(Quantize{g.type(old).quant}, {y}, g.type(old).quant, name));
  return b.done();
}

}  // namespace

std::span<const Rule> resize_rules() {
  static constexpr Rule kRules[] = {nearest_to_gathers, bilinear_in_float};
  return kRules;
}

}  // namespace deuteron
