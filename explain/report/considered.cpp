// SPDX-License-Identifier: Apache-2.0
#include "explain/report/considered.h"

#include <fmt/format.h>

#include <algorithm>

#include "compile/place/npu_support.h"
#include "ops/families.h"

namespace deuteron {
namespace {

std::string quantization_of(const Graph& g, ValueId v, std::string_view role) {
  const Type& type = g.type(v);
  std::string text = fmt::format("{} `{}` {}[{}]", role, g.values[v].name, name_of(type.dtype),
                                 to_text(type.shape));
  if (type.quant.empty()) return text;
  if (!type.quant.per_channel())
    return text + fmt::format(" scale {:.6g}, zero point {}", type.quant.scale[0],
                              type.quant.zero_point[0]);
  const auto [low, high] = std::minmax_element(type.quant.scale.begin(), type.quant.scale.end());
  return text + fmt::format(" {} scales, {:.6g} to {:.6g}", type.quant.scale.size(), *low, *high);
}

std::vector<std::string> quantization_of(const Graph& g, const Node& node) {
  std::vector<std::string> lines;
  for (const ValueId v : node.inputs)
    if (g.type(v).dtype != DType::s32)
      lines.push_back(quantization_of(g, v, g.is_constant(v) ? "constant" : "operand"));
  for (const ValueId v : node.outputs) lines.push_back(quantization_of(g, v, "result"));
  return lines;
}

// Inputs and outputs of the model are the CPU's.
std::vector<Considered::Neighbour> neighbours_of(const PartitionDecisions& p, const Uses& uses,
                                                 const Node& node, bool on_npu) {
  const Graph& g = p.graph;
  const auto is_across = [&](NodeId other) { return p.nodes[other].on_npu != on_npu; };
  std::vector<Considered::Neighbour> list;
  for (const ValueId v : node.inputs) {
    if (g.is_constant(v)) continue;
    const NodeId above = uses.producer[v];
    list.push_back({g.values[v].name,
                    above >= 0 ? describe(g, g.nodes[above]) : std::string("input of the model"),
                    true, above >= 0 ? is_across(above) : on_npu, g.type(v).bytes()});
  }
  for (const ValueId v : node.outputs) {
    for (const NodeId r : uses.readers[v])
      list.push_back(
          {g.values[v].name, describe(g, g.nodes[r]), false, is_across(r), g.type(v).bytes()});
    if (uses.output_uses[v] > 0)
      list.push_back(
          {g.values[v].name, std::string("output of the model"), false, on_npu, g.type(v).bytes()});
  }
  return list;
}

}  // namespace

std::vector<Considered> considered_operators(const PartitionDecisions& p) {
  const Uses uses(p.graph);
  std::vector<Considered> list;
  for (size_t n = 0; n < p.graph.nodes.size(); ++n) {
    const Node& node = p.graph.nodes[n];
    if (is_quantize_or_dequantize(node.op)) continue;
    Considered c{node.origin,
                 describe(p.graph, node),
                 quantization_of(p.graph, node),
                 p.nodes[n],
                 {},
                 neighbours_of(p, uses, node, p.nodes[n].on_npu)};
    for (const KeptOnCpu& kept : p.kept_on_cpu)
      if (!c.sides.on_npu && kept.origin == node.origin) c.why_not = to_text(kept.why);
    list.push_back(std::move(c));
  }
  return list;
}

}  // namespace deuteron
