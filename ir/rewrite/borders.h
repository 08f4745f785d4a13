// SPDX-License-Identifier: Apache-2.0
// Between float and int8: what stands behind a dequantize, and before a quantize.
#pragma once
#include <array>
#include <string>

#include "ir/rewrite/patch.h"

namespace deuteron {

// The quantized value that `v` is dequantized from; -1: v is something else.
inline ValueId dequantized(const Graph& g, const Uses& uses, ValueId v) {
  const NodeId above = producer_as<Dequantize>(g, uses, v);
  return above < 0 ? -1 : g.nodes[above].inputs[0];
}
// `v` as steps of `dtype`, and back: two nodes, in this order.
inline std::array<Node, 2> steps_and_back(Graph& g, ValueId v, DType dtype, const Quant& quant,
                                          const Origin& origin) {
  const Shape shape = g.type(v).shape;
  const std::string name = g.values[v].name;
  const ValueId steps = g.add_value(name + "_q", Type{dtype, shape, quant});
  const ValueId real = g.add_value(name + "_dq", Type{DType::f32, shape, {}});
  return {Node{Quantize{quant}, {v}, {steps}, origin}, Node{Dequantize{}, {steps}, {real}, origin}};
}
// A constant, or one behind a dequantize.
inline bool is_constant_like(const Graph& g, const Uses& uses, ValueId v) {
  if (g.is_constant(v)) return true;
  const ValueId steps = dequantized(g, uses, v);
  return steps >= 0 && g.is_constant(steps);
}
// The parameters that a node quantizes to; null for another node, and for none (-1).
inline const Quant* quantizes_to(const Graph& g, NodeId n) {
  const Quantize* quantize = op_as<Quantize>(g, n);
  return quantize ? &quantize->quant : nullptr;
}
// The one type to which every reader quantizes `v`; nothing when somebody wants the float.
inline std::optional<Type> quantized_type(const Graph& g, const Uses& uses, ValueId v) {
  const std::vector<NodeId>& readers = uses.readers[v];
  if (readers.empty() || uses.output_uses[v] != 0) return std::nullopt;
  for (const NodeId n : readers)
    if (!quantizes_to(g, n) ||
        g.type(g.nodes[n].outputs[0]) != g.type(g.nodes[readers[0]].outputs[0]))
      return std::nullopt;
  return g.type(g.nodes[readers[0]].outputs[0]);
}

}  // namespace deuteron
