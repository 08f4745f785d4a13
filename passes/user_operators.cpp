#include "passes/user_operators.h"

#include <algorithm>

namespace deuteron {

bool only_moves(const Op& op) {
  return std::holds_alternative<Concat>(op) || std::holds_alternative<Expand>(op) || std::holds_alternative<Gather>(op) ||
         std::holds_alternative<Pad>(op) || std::holds_alternative<Permute>(op) || std::holds_alternative<Reshape>(op) ||
         std::holds_alternative<Slice>(op);
}

std::vector<UserOperator> user_operators(const Graph& g) {
  std::vector<UserOperator> operators(g.sources.size());
  for (size_t s = 0; s < g.sources.size(); ++s) {
    operators[s].is_quantizer = g.sources[s].target.starts_with("quantized_decomposed.");
    operators[s].is_move = true;
  }
  const Uses uses(g);
  // Of a value, the operator that gave it: quantizers are looked through.
  std::vector<i32> maker(g.nodes.size(), -1);
  const auto note = [](std::vector<i32>& list, i32 id) {
    if (std::find(list.begin(), list.end(), id) == list.end()) list.push_back(id);
  };
  for (size_t n = 0; n < g.nodes.size(); ++n) {
    const Node& node = g.nodes[n];
    std::vector<i32> read;
    for (const ValueId v : node.inputs)
      if (const NodeId above = uses.producer[v]; above >= 0 && maker[above] >= 0) note(read, maker[above]);
    for (const i32 s : node.origin) {
      UserOperator& op = operators[s];
      if (op.is_quantizer) continue;
      maker[n] = s;
      for (const i32 id : read)
        if (id != s) note(op.inputs, id);
      if (!node.outputs.empty()) {
        op.shape = g.type(node.outputs[0]).shape;
        op.dtype = g.type(node.outputs[0]).dtype;
      }
      op.has_result = true;
      op.is_move = op.is_move && only_moves(node.op);
      op.macs += macs_of(g, node);
    }
    if (maker[n] < 0 && !read.empty()) maker[n] = read[0];
  }
  return operators;
}

}  // namespace deuteron
