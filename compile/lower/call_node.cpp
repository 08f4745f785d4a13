// SPDX-License-Identifier: Apache-2.0
#include "compile/lower/call_node.h"

#include "ops/families.h"

namespace deuteron {

Node call_node(Graph& g, const Node& node, Lowered lowered) {
  Node call{std::move(lowered.call), node.inputs, node.outputs, node.origin};
  const std::string base = g.values[node.outputs[0]].name;
  for (NewConstant& c : lowered.constants)
    call.inputs.push_back(g.add_value(base + ".constant", std::move(c.type), std::move(c.data)));
  for (Type& type : lowered.scratch)
    call.outputs.push_back(g.add_value(base + ".scratch", std::move(type)));
  auto& op = *call_of(call.op);
  std::vector<i64> renumbered(call.inputs.size(), -1);
  std::vector<ValueId> used;
  const auto renumber = [&](i64& operand) {
    i64& index = renumbered[operand];
    if (index < 0) {
      index = static_cast<i64>(used.size());
      used.push_back(call.inputs[operand]);
    }
    operand = index;
  };
  for (KernelArg& arg : op.args) {
    if (arg.kind == KernelArg::Kind::input) renumber(arg.integer);
    if (arg.kind == KernelArg::Kind::inputs)
      for (i64& operand : arg.integers)
        if (operand >= 0) renumber(operand);
  }
  for (auto& [result, operand] : op.in_place) operand = renumbered[operand];
  call.inputs = std::move(used);
  return call;
}

ValueId add_copy(Graph& g, ValueId v, bool for_stock, const Origin& origin, std::string name) {
  const Face face = plain_face(g.type(v).shape);
  CallBuilder call(for_stock ? "aten::clone" : "deuteron::copy", 1, 1);
  call.in(0, face);
  if (for_stock) call.none();
  Lowered copy = call.out(0, face).done();
  return g.add_node(std::move(copy.call), {v}, {g.type(v)}, std::move(name), origin);
}

}  // namespace deuteron
