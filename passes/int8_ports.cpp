// SPDX-License-Identifier: Apache-2.0
// --io int8: the quantize at an input and the dequantize at an output are the caller's business. A state is int8 where both ends can be.
//   input -> quantize -> ..   becomes   input (s8) -> ..          .. -> dequantize -> output   becomes   .. -> output (s8)
#include "ops/families.h"
#include "passes/options.h"
#include "passes/pass.h"
#include "rewrite/borders.h"

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

//   state -> quantize -> ..   ..   .. -> dequantize -> its new value   becomes   state (s8) -> ..   ..   .. -> its new value (s8)
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

void int8_ports(PassContext& pass) {
  Graph& g = pass.graph;
  for (size_t k = 0; k < g.states.size(); ++k) make_state_int8(g, k);
  if (!g.states.empty()) remove_dead(g, "the state is int8");
  if (!pass.options.int8_io) return;
  const size_t inputs = g.user_inputs().size(), outputs = g.user_outputs().size();
  for (size_t i = 0; i < inputs; ++i)
    if (!byte_input(pass.options.byte_inputs, i)) drop_input_quantize(g, g.inputs[i], "done by the caller (int8 input)");
  for (size_t o = 0; o < outputs; ++o) {
    const Uses uses(g);
    if (const ValueId steps = dequantized(g, uses, g.outputs[o].value); steps >= 0) g.outputs[o].value = steps;
  }
  remove_dead(g, "done by the caller (int8 output)");
}

}  // namespace deuteron
