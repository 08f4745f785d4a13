// SPDX-License-Identifier: Apache-2.0
#include "compile/plan/homes.h"

#include <algorithm>

#include "base/check.h"
#include "ir/states.h"

namespace deuteron {

Homes::Homes(const Graph& g) {
  resize(g.values.size());
  std::vector<bool> is_written(g.values.size());
  for (const Node& node : g.nodes) {
    enter(g, node);
    const auto* call = call_of(node.op);
    if (call && call->writes_state)
      parent_[node.outputs[0]] = {node.inputs[call->in_place[0].second], 0};
    if (call && call->name == kStateWrite) is_written[node.outputs[0]] = true;
  }
  for (size_t k = 0; k < g.states.size(); ++k)
    if (const ValueId after = g.state_outputs()[k].value; is_written[after])
      parent_[after] = {g.state_inputs()[k].value, 0};
}

void Homes::resize(size_t values) {
  for (size_t v = parent_.size(); v < values; ++v) parent_.push_back({static_cast<ValueId>(v), 0});
}

Homes::Place Homes::of(ValueId v) const {
  Place place{v, 0};
  while (parent_[place.root].root != place.root) {
    place.offset += parent_[place.root].offset;
    place.root = parent_[place.root].root;
  }
  return place;
}

// The bytes of each operand lie together in the result.
static bool is_contiguous(const Graph& g, const Node& node) {
  const Shape& y = g.type(node.outputs[0]).shape;
  return numel(std::span(y).first(static_cast<size_t>(std::get<Concat>(node.op).axis))) == 1;
}

bool Homes::move_in(const Graph& g, const Node& node) {
  if (!is_contiguous(g, node)) return false;
  std::vector<ValueId> roots;
  i64 begin = 0;
  for (const ValueId v : node.inputs) {
    if (!may_begin_at(g.type(v).dtype, begin)) return false;
    begin += g.type(v).bytes();
    const Place place = of(v);
    const bool is_input = std::any_of(g.inputs.begin(), g.inputs.end(),
                                      [&](const Port& p) { return p.value == place.root; });
    const bool is_twice = std::find(roots.begin(), roots.end(), place.root) != roots.end();
    if (place.offset != 0 || is_input || is_twice || g.is_constant(place.root) ||
        g.type(place.root).bytes() != g.type(v).bytes())
      return false;
    roots.push_back(place.root);
  }
  enter(g, node);
  return true;
}

void Homes::enter(const Graph& g, const Node& node) {
  const ValueId y = node.outputs[0];
  switch (facts_of(node.op).storage) {
    case Storage::own:
      return;
    case Storage::in_operand: {
      std::vector<const Type*> in;
      const std::optional<i64> first = view_of(node.op, g.types(node.inputs, in));
      DEUTERON_CHECK(first, describe(g, node));
      parent_[y] = {node.inputs[0], *first * bytes_of(in[0]->dtype)};
      return;
    }
    case Storage::around_operands: {
      i64 offset = 0;
      for (const ValueId v : node.inputs) {
        parent_[of(v).root] = {y, offset};
        offset += g.type(v).bytes();
      }
    }
  }
}

}  // namespace deuteron
