// SPDX-License-Identifier: Apache-2.0
#include "compile/lower/shift_in.h"

#include <algorithm>
#include <optional>

#include "compile/lower/call_node.h"
#include "ir/rewrite/patch.h"
#include "ir/states.h"
#include "ops/families.h"

namespace deuteron {

namespace {

// What comes into a state, along an axis; and the node between that is not needed for it.
struct Shift {
  i64 axis;
  ValueId fresh;
  NodeId between;
};

// The node n makes the old value without its first elements, and fresh ones behind them: cut and
// then joined, or joined and then cut where that is no view.
std::optional<Shift> shift_of(const Graph& g, const Uses& uses, NodeId n, ValueId before) {
  const NodeId above = uses.producer[g.nodes[n].inputs[0]];
  if (above < 0) return std::nullopt;
  const bool is_cut_first = facts_of(g.nodes[n].op).storage == Storage::around_operands;
  const Node &joint = g.nodes[is_cut_first ? n : above], &cut = g.nodes[is_cut_first ? above : n];
  if (facts_of(joint.op).storage != Storage::around_operands || joint.inputs.size() != 2 ||
      (is_cut_first ? cut : joint).inputs[0] != before)
    return std::nullopt;
  const Shape &x = g.type(cut.inputs[0]).shape, &state = g.type(before).shape;
  const std::optional<FirstLeftOut> left_out = first_left_out(cut.op, x);
  if (!left_out) return std::nullopt;
  const auto [axis, count] = *left_out;
  Shape part = state;
  part[axis] = count;
  const ValueId fresh = joint.inputs[1];
  const bool is_view = !is_cut_first && numel(std::span(x).first(static_cast<size_t>(axis))) == 1;
  if (count > state[axis] || g.type(fresh).shape != part || is_view) return std::nullopt;
  return Shift{axis, fresh, above};
}

// Whether nobody reads the old value behind the node n, be it through views, and what comes in is
// no part of it.
bool is_read_before(const Graph& g, NodeId n, ValueId before, ValueId fresh) {
  std::vector<bool> old(g.values.size());
  old[before] = true;
  const auto is_old = [&](ValueId v) { return old[v]; };
  for (NodeId k = 0; k < static_cast<NodeId>(g.nodes.size()); ++k) {
    const Node& node = g.nodes[k];
    if (k == n || !std::ranges::any_of(node.inputs, is_old)) continue;
    if (k > n) return false;
    if (facts_of(node.op).storage == Storage::in_operand)
      for (const ValueId y : node.outputs) old[y] = true;
  }
  return !old[fresh] &&
         std::ranges::none_of(g.outputs, [&](const Port& p) { return is_old(p.value); });
}

}  // namespace

void shift_into_states(Graph& g) {
  for (size_t k = 0; k < g.states.size(); ++k) {
    const ValueId before = g.state_inputs()[k].value, after = g.state_outputs()[k].value;
    const Uses uses(g);
    const NodeId n = uses.producer[after];
    if (n < 0 || g.nodes[n].inputs.empty() || uses.output_uses[after] != 1) continue;
    const std::optional<Shift> shift = shift_of(g, uses, n, before);
    if (!shift || !is_read_before(g, n, before, shift->fresh)) continue;
    Node& node = g.nodes[n];
    node.inputs = {before, shift->fresh};
    node.origin = merge(node.origin, g.nodes[shift->between].origin);
    if (g.states[k].source >= 0) node.origin = merge(node.origin, Origin{g.states[k].source});
    CallBuilder call(kStateShift, 2, 1);
    call.in(0, plain_face(g.type(before).shape)).in(1, plain_face(g.type(shift->fresh).shape));
    call.integer(shift->axis).out(0, plain_face(g.type(after).shape)).may_share(0, 0);
    node = call_node(g, node, call.done());
    call_of(node.op)->writes_state = true;
  }
}

}  // namespace deuteron
