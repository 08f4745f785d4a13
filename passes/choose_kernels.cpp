// Brings int8 operators to the forms that the dialect has a kernel for.
#include "passes/fuse.h"
#include "passes/pass.h"
#include "passes/view_rules.h"

namespace deuteron {

// linear with per-channel weights   becomes   a 1x1 convolution over one row of pixels, which has a multiplier for each channel
static std::optional<Patch> linear_to_conv(const Graph& g, const Uses&, NodeId root) {
  const Linear* linear = op_as<Linear>(g, root);
  if (!linear) return std::nullopt;
  const Node& node = g.nodes[root];
  const Type &x = g.type(node.inputs[0]), &w = g.type(node.inputs[1]), &y = g.type(node.outputs[0]);
  if (x.dtype != DType::s8 || !w.quant.per_channel()) return std::nullopt;
  const i64 in = w.shape[1], out = w.shape[0], rows = x.elements() / in;
  PatchBuilder b(g, root, "");
  std::vector<ValueId> inputs = node.inputs;
  inputs[0] = b.add(Reshape{{1, rows, 1, in}}, {node.inputs[0]}, x.quant);
  inputs[1] = b.add(Reshape{{out, 1, 1, in}}, {node.inputs[1]}, w.quant, g.values[node.inputs[1]].name);
  Conv2d conv;
  conv.bounds = linear->bounds;
  const ValueId pixels = b.add(conv, std::move(inputs), y.quant, g.values[node.outputs[0]].name);
  return b.replace_root(Reshape{y.shape}, {pixels});
}

void choose_kernels(PassContext& pass) {
  std::vector<Rule> rules(view_rules().begin(), view_rules().end());
  rules.insert(rules.end(), fuse_rules().begin(), fuse_rules().end());
  rules.push_back(linear_to_conv);
  rewrite(pass.graph, rules, pass.rewrites_left);
}

}  // namespace deuteron
