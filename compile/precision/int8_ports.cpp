// SPDX-License-Identifier: Apache-2.0
// --io: where a port is steps, the quantize at an input and the dequantize at an output are the
// caller's business. A state is int8 where both ends can be.
//   input -> quantize -> ..   becomes   input (s8) -> ..          .. -> dequantize -> output
//   becomes   .. -> output (s8)
// What is only seen in another shape between float ports stays a float.
#include <algorithm>

#include "compile/compilation.h"
#include "compile/options.h"
#include "compile/pass.h"
#include "ir/rewrite/borders.h"
#include "ir/rewrite/patch.h"
#include "ops/families.h"

namespace deuteron {

// What all readers quantize the input to; null: something reads it as it is, or nothing reads it.
static const Type* quantized_type(const Graph& g, const Uses& uses, const Port& port) {
  const std::vector<NodeId>& readers = uses.readers[port.value];
  if (readers.empty() || uses.output_uses[port.value] != 0) return nullptr;
  const Type& first = g.type(g.nodes[readers[0]].outputs[0]);
  for (const NodeId n : readers)
    if (!is_quantize(g.nodes[n].op) || g.type(g.nodes[n].outputs[0]) != first) return nullptr;
  return &first;
}

static void drop_input_quantize(Graph& g, Port& port, const std::string& reason) {
  const Uses uses(g);
  if (!quantized_type(g, uses, port)) return;
  const std::vector<NodeId>& readers = uses.readers[port.value];
  const Node& kept = g.nodes[readers[0]];
  const ValueId quantized = kept.outputs[0];
  g.folded.push_back({kept.origin, reason});
  for (Node& node : g.nodes)
    for (ValueId& v : node.inputs)
      for (const NodeId n : readers)
        if (v == g.nodes[n].outputs[0]) v = quantized;
  port.value = quantized;
  std::vector<NodeId> gone = readers;
  for (auto it = gone.rbegin(); it != gone.rend(); ++it) g.nodes.erase(g.nodes.begin() + *it);
}

//   state -> quantize -> ..   ..   .. -> dequantize -> its new value   becomes   state (s8) -> ..
//   ..   .. -> its new value (s8)
// Refused unless both have the same parameters.
static void make_state_int8(Graph& g, size_t k) {
  const Uses uses(g);
  const Port& before = g.state_inputs()[k];
  Port& after = g.outputs[g.user_outputs().size() + k];
  const Type* type = quantized_type(g, uses, before);
  const ValueId steps = dequantized(g, uses, after.value);
  if (!type || steps < 0 || g.type(steps) != *type) return;
  after.value = steps;
  drop_input_quantize(g, g.inputs[g.user_inputs().size() + k], "the state is int8");
}

static bool is_view(const Graph& g, const Node& node) {
  std::vector<const Type*> in;
  return node.inputs.size() == 1 && view_of(node.op, g.types(node.inputs, in)).has_value();
}

// dequantize(view(quantize(x)))   becomes   view(x)
static std::optional<Patch> keep_view_in_float(const Graph& g, const Uses& uses, NodeId root) {
  if (!is_dequantize(g.nodes[root].op)) return std::nullopt;
  std::vector<NodeId> views;  // the last one first
  NodeId at = uses.producer[g.nodes[root].inputs[0]];
  for (; at >= 0 && is_view(g, g.nodes[at]); at = uses.producer[g.nodes[at].inputs[0]])
    views.push_back(at);
  if (views.empty() || at < 0 || !is_quantize(g.nodes[at].op)) return std::nullopt;
  // Among int8 and int16 layers steps of the one become steps of the other.
  const auto is_float = [&](ValueId v) { return g.type(v).dtype == DType::f32; };
  if (!is_float(g.nodes[at].inputs[0]) || !is_float(g.nodes[root].outputs[0])) return std::nullopt;
  PatchBuilder b(g, root, "a view of a float");
  ValueId v = g.nodes[at].inputs[0];
  for (; !views.empty(); views.pop_back()) {
    const Node& view = g.nodes[views.back()];
    v = b.add(view.op, {v}, {}, g.values[view.outputs[0]].name + "_float");
  }
  return b.replace_root(v);
}

void int8_ports(PassContext& pass) {
  Graph& g = pass.graph;
  for (size_t k = 0; k < g.states.size(); ++k) make_state_int8(g, k);
  if (!g.states.empty()) remove_dead(g, "the state is int8");
  const auto are_steps = [&](const Port& port) {
    return pass.options.ports == PortTypes::steps ||
           (pass.options.ports == PortTypes::model && port.steps);
  };
  const size_t inputs = g.user_inputs().size(), outputs = g.user_outputs().size();
  for (size_t i = 0; i < inputs; ++i)
    if (are_steps(g.inputs[i]) && !byte_input(pass.options.byte_inputs, i))
      drop_input_quantize(g, g.inputs[i], "done by the caller (int8 input)");
  for (size_t o = 0; o < outputs; ++o) {
    const Uses uses(g);
    if (!are_steps(g.outputs[o])) continue;
    if (const ValueId steps = dequantized(g, uses, g.outputs[o].value); steps >= 0)
      g.outputs[o].value = steps;
  }
  remove_dead(g, "done by the caller (int8 output)");
  // Where the model says the steps itself, they are part of what it computes; and what comes as
  // bytes is no float.
  if (pass.options.ports == PortTypes::steps || pass.result.quantization.model_was_quantized ||
      !pass.options.byte_inputs.empty())
    return;
  const Rule rules[] = {keep_view_in_float};
  const bool all_views =
      rewrite(g, rules, pass.rules()) > 0 &&
      std::ranges::all_of(g.nodes, [&](const Node& node) { return is_view(g, node); });
  if (all_views) pass.result.quantization = {};  // nothing is quantized
}

}  // namespace deuteron
