// SPDX-License-Identifier: Apache-2.0
#include "compile/lower/user_operators.h"

#include <algorithm>

#include "ops/families.h"

namespace deuteron {
namespace {

void note(std::vector<i32>& list, i32 id) {
  if (std::find(list.begin(), list.end(), id) == list.end()) list.push_back(id);
}

// Where a value comes from: operators of the user, inputs of the graph. Quantizers are looked
// through, and remembered.
struct Makers {
  std::vector<i32> operators, graph_inputs, quantizers;
  void add(const Makers& other) {
    for (const i32 id : other.operators) note(operators, id);
    for (const i32 i : other.graph_inputs) note(graph_inputs, i);
    for (const i32 q : other.quantizers) note(quantizers, q);
  }
};

}  // namespace

bool only_moves(const Op& op) {
  return is_movement(op) && facts_of(op).values != Values::interpolated;
}

// The `inputs` of a quantizer are the operators that it serves: those that read through it, or at
// an output of the graph the one before it.
std::vector<UserOperator> user_operators(const Graph& g) {
  std::vector<UserOperator> operators(g.sources.size());
  for (size_t s = 0; s < g.sources.size(); ++s) {
    operators[s].is_quantizer = g.sources[s].target.starts_with("quantized_decomposed.");
    operators[s].is_move = true;
  }
  std::vector<Makers> makers(g.values.size());
  for (size_t i = 0; i < g.inputs.size(); ++i)
    makers[g.inputs[i].value].graph_inputs = {static_cast<i32>(i)};
  for (const Node& node : g.nodes) {
    Makers read, made;
    for (const ValueId v : node.inputs) read.add(makers[v]);
    for (const i32 s : node.origin)
      if (operators[s].is_quantizer) note(read.quantizers, s);
    for (const i32 s : node.origin) {
      UserOperator& op = operators[s];
      if (op.is_quantizer) continue;
      made.operators = {s};
      for (const i32 q : read.quantizers) note(operators[q].inputs, s);
      for (const i32 id : read.operators)
        if (id != s) note(op.inputs, id);
      for (const i32 i : read.graph_inputs) note(op.graph_inputs, i);
      if (!node.outputs.empty()) {
        op.shape = g.type(node.outputs[0]).shape;
        op.dtype = g.type(node.outputs[0]).dtype;
      }
      op.has_result = true;
      op.is_move = op.is_move && only_moves(node.op);
      op.macs += macs_of(g, node);
    }
    for (const ValueId v : node.outputs) makers[v] = made.operators.empty() ? read : made;
  }
  for (size_t o = 0; o < g.outputs.size(); ++o) {
    const Makers& last = makers[g.outputs[o].value];
    for (const i32 s : last.operators) note(operators[s].graph_outputs, static_cast<i32>(o));
    for (const i32 q : last.quantizers)
      for (const i32 s : last.operators)
        if (operators[q].inputs.empty()) note(operators[q].inputs, s);
  }
  return operators;
}

}  // namespace deuteron
