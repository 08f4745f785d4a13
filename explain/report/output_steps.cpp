// SPDX-License-Identifier: Apache-2.0
#include "explain/report/output_steps.h"

#include <algorithm>

#include "compile/calibrate/output_parts.h"

namespace deuteron {
namespace {

bool has_steps(const Type& type) {
  return (type.dtype == DType::s8 || type.dtype == DType::s16) && !type.quant.empty();
}

float step_of(const Type& type, i64 axis, i64 index) {
  const Quant& q = type.quant;
  if (!q.per_channel()) return q.scale[0];
  if (q.axis == axis) return q.scale[static_cast<size_t>(index)];
  return std::ranges::all_of(q.scale, [&](float s) { return s == q.scale[0]; }) ? q.scale[0] : 0;
}

}  // namespace

float step_of_output(const Graph& g, ValueId v, i64 axis, i64 index) {
  if (has_steps(g.type(v))) return step_of(g.type(v), axis, index);
  const Uses uses(g);
  const NodeId n = uses.producer[v];
  if (n < 0 || g.type(v).dtype != DType::f32) return 0;
  const Node& node = g.nodes[n];
  std::vector<ValueId> computed;
  std::ranges::copy_if(node.inputs, std::back_inserter(computed),
                       [&](ValueId x) { return !g.is_constant(x); });
  if (computed.size() == 1 && g.type(computed[0]).shape == g.type(v).shape &&
      has_steps(g.type(computed[0])))
    return step_of(g.type(computed[0]), axis, index);
  const i64 joined =
      computed.size() > 1 && computed.size() == node.inputs.size() ? joined_axis(g, node) : -1;
  if (joined < 0 || joined != axis) return 0;
  for (const ValueId operand : node.inputs) {
    const i64 extent = g.type(operand).shape[static_cast<size_t>(axis)];
    if (index < extent) return step_of_output(g, operand, axis, index);
    index -= extent;
  }
  return 0;
}

float step_of_input(const Graph& g, ValueId v, i64 axis, i64 index) {
  if (has_steps(g.type(v))) return step_of(g.type(v), axis, index);
  float coarsest = 0;
  for (const Node& node : g.nodes)
    if (std::ranges::find(node.inputs, v) != node.inputs.end() && node.outputs.size() == 1 &&
        g.type(node.outputs[0]).shape == g.type(v).shape && has_steps(g.type(node.outputs[0])))
      coarsest = std::max(coarsest, step_of(g.type(node.outputs[0]), axis, index));
  return coarsest;
}

}  // namespace deuteron
