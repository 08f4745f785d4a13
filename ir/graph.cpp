// SPDX-License-Identifier: Apache-2.0
// Building a graph, asking who uses what, and taking out what nobody needs.
#include "ir/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "ops/families.h"

namespace deuteron {

Origin merge(const Origin& a, const Origin& b) {
  Origin merged;
  merged.reserve(a.size() + b.size());
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(merged));
  return merged;
}

Shape logical_shape(const Port& port, const Shape& storage) {
  DEUTERON_CHECK(port.order.size() == storage.size(),
                 fmt::format("order {}, shape {}", to_text(port.order), to_text(storage)));
  Shape logical(storage.size());
  for (size_t k = 0; k < storage.size(); ++k)
    logical[static_cast<size_t>(port.order[k])] = storage[k];
  return logical;
}

ValueId Graph::add_value(std::string value_name, Type type, std::optional<Constant> constant) {
  values.push_back({std::move(value_name), std::move(type), std::move(constant)});
  return static_cast<ValueId>(values.size()) - 1;
}

ValueId Graph::add_node(Op op, std::vector<ValueId> node_inputs, std::vector<Type> types,
                        std::string value_name, Origin origin) {
  DEUTERON_CHECK(!types.empty(), value_name);
  const auto first = static_cast<ValueId>(values.size());
  std::vector<ValueId> outputs;
  for (size_t k = 0; k < types.size(); ++k)
    outputs.push_back(
        add_value(k == 0 ? value_name : fmt::format("{}.{}", value_name, k), std::move(types[k])));
  nodes.push_back({std::move(op), std::move(node_inputs), std::move(outputs), std::move(origin)});
  return first;
}

TypeView Graph::types(std::span<const ValueId> ids, std::vector<const Type*>& storage) const {
  storage.clear();
  for (const ValueId v : ids) storage.push_back(&type(v));
  return TypeView(storage);
}

Uses::Uses(const Graph& g)
    : producer(g.values.size(), -1), readers(g.values.size()), output_uses(g.values.size(), 0) {
  for (NodeId n = 0; n < static_cast<NodeId>(g.nodes.size()); ++n) {
    for (const ValueId v : g.nodes[n].outputs) producer[v] = n;
    for (const ValueId v : g.nodes[n].inputs) readers[v].push_back(n);
  }
  for (const Port& port : g.outputs) ++output_uses[port.value];
}

Origin users_own(const Graph& g, const Origin& origin) {
  Origin own;
  for (const i32 id : origin)
    if (id >= 0 && id < static_cast<i32>(g.sources.size()) &&
        !g.sources[id].target.starts_with("quantized_decomposed."))
      own.push_back(id);
  return own.empty() ? origin : own;
}

std::string describe(const Graph& g, const Node& node) {
  std::string name;
  const Origin origin = users_own(g, node.origin);
  for (const i32 id : origin) {
    if (id < 0 || id >= static_cast<i32>(g.sources.size())) continue;
    const SourceOp& source = g.sources[id];
    name = source.module.empty() ? source.name : source.module;
    if (!name.empty()) break;
  }
  if (name.empty() && !node.outputs.empty() && node.outputs[0] >= 0 &&
      node.outputs[0] < static_cast<ValueId>(g.values.size()))
    name = g.values[node.outputs[0]].name;
  std::string text = fmt::format("{} `{}`", name_of(node.op), name);
  if (origin.size() == 1) text += fmt::format(" (source op {})", origin[0]);
  constexpr size_t kShown = 6;
  if (origin.size() > kShown)
    text += fmt::format(" (source ops {} to {}, {} of them)", origin.front(), origin.back(),
                        origin.size());
  else if (origin.size() > 1) text += fmt::format(" (source ops {})", fmt::join(origin, ", "));
  return text;
}

i64 macs_of(const Graph& g, const Node& node) {
  if (const auto* call = call_of(node.op)) return call->macs;
  if (const auto* delegate = delegate_of(node.op)) return macs_of(*delegate->body);
  std::vector<const Type*> in, out;
  const TypeView in_types = g.types(node.inputs, in), out_types = g.types(node.outputs, out);
  return macs(node.op, in_types, out_types);
}

i64 macs_of(const Graph& g) {
  i64 sum = 0;
  for (const Node& node : g.nodes) sum += macs_of(g, node);
  return sum;
}

// Marks the nodes that a graph output depends on.
static std::vector<bool> live_nodes(const Graph& g) {
  std::vector<bool> needed(g.values.size()), live(g.nodes.size());
  for (const Port& port : g.outputs) needed[port.value] = true;
  for (size_t n = g.nodes.size(); n-- > 0;) {
    for (const ValueId v : g.nodes[n].outputs) live[n] = live[n] || needed[v];
    if (live[n])
      for (const ValueId v : g.nodes[n].inputs) needed[v] = true;
  }
  return live;
}

void drop_unreferenced_values(Graph& g) {
  std::vector<ValueId> renumbered(g.values.size(), -1);
  for (const Port& port : g.inputs) renumbered[port.value] = 0;
  for (const Port& port : g.outputs) renumbered[port.value] = 0;
  for (const Node& node : g.nodes) {
    for (const ValueId v : node.inputs) renumbered[v] = 0;
    for (const ValueId v : node.outputs) renumbered[v] = 0;
  }
  ValueId count = 0;
  for (size_t v = 0; v < g.values.size(); ++v) {
    if (renumbered[v] < 0) continue;
    if (static_cast<size_t>(count) != v) g.values[count] = std::move(g.values[v]);
    renumbered[v] = count++;
  }
  g.values.resize(count);
  for (Port& port : g.inputs) port.value = renumbered[port.value];
  for (Port& port : g.outputs) port.value = renumbered[port.value];
  for (Node& node : g.nodes) {
    for (ValueId& v : node.inputs) v = renumbered[v];
    for (ValueId& v : node.outputs) v = renumbered[v];
  }
}

void remove_dead(Graph& g, const std::string& reason) {
  const std::vector<bool> live = live_nodes(g);
  std::vector<bool> known(g.sources.size());  // has a node that stays, or is recorded as folded
  const auto note = [&](const Origin& origin) {
    for (const i32 id : origin)
      if (id >= 0 && id < static_cast<i32>(known.size())) known[id] = true;
  };
  for (const Folded& folded : g.folded) note(folded.origin);
  for (size_t n = 0; n < g.nodes.size(); ++n)
    if (live[n]) note(g.nodes[n].origin);

  std::vector<Node> kept;
  for (size_t n = 0; n < g.nodes.size(); ++n) {
    if (live[n]) {
      kept.push_back(std::move(g.nodes[n]));
      continue;
    }
    Origin lost;
    for (const i32 id : g.nodes[n].origin)
      if (id >= 0 && id < static_cast<i32>(known.size()) && !known[id]) lost.push_back(id);
    note(lost);
    if (!lost.empty()) g.folded.push_back({std::move(lost), reason});
  }
  g.nodes = std::move(kept);
  drop_unreferenced_values(g);
}

}  // namespace deuteron
