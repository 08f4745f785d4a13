// --io int8: the quantize at an input and the dequantize at an output are the caller's business.
//   input -> quantize -> ..   becomes   input (s8) -> ..          .. -> dequantize -> output   becomes   .. -> output (s8)
#include "ops/families.h"
#include "passes/options.h"
#include "passes/pass.h"
#include "rewrite/borders.h"

namespace deuteron {

static void drop_input_quantize(Graph& g, Port& port) {
  const Uses uses(g);
  const std::vector<NodeId>& readers = uses.readers[port.value];
  if (readers.empty() || uses.output_uses[port.value] != 0) return;
  for (const NodeId n : readers)
    if (!is_quantize(g.nodes[n].op) || g.type(g.nodes[n].outputs[0]) != g.type(g.nodes[readers[0]].outputs[0])) return;
  const Node& kept = g.nodes[readers[0]];
  const ValueId quantized = kept.outputs[0];
  const std::string reason = "done by the caller (int8 input)";
  g.folded.push_back({kept.origin, reason});
  for (Node& node : g.nodes)
    for (ValueId& v : node.inputs)
      for (const NodeId n : readers)
        if (v == g.nodes[n].outputs[0]) v = quantized;
  port.value = quantized;
  std::vector<NodeId> gone = readers;
  for (auto it = gone.rbegin(); it != gone.rend(); ++it) g.nodes.erase(g.nodes.begin() + *it);
}

void int8_ports(PassContext& pass) {
  if (!pass.options.int8_io) return;
  Graph& g = pass.graph;
  for (Port& port : g.inputs) drop_input_quantize(g, port);
  for (Port& port : g.outputs) {
    const Uses uses(g);
    if (const ValueId steps = dequantized(g, uses, port.value); steps >= 0) port.value = steps;
  }
  remove_dead(g, "done by the caller (int8 output)");
}

}  // namespace deuteron
