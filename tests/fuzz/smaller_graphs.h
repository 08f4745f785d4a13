// SPDX-License-Identifier: Apache-2.0
// Delta debugging: graphs with less in them.
#pragma once
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "ir/graph.h"

namespace deuteron::test {

// What `outputs` need of the graph, with these replacements: a value of `cut` becomes an input, one
// of `instead` another value.
inline Graph part_of(const Graph& g, const std::vector<Port>& outputs, const std::set<ValueId>& cut,
                     const std::map<ValueId, ValueId>& instead) {
  const auto real = [&](ValueId v) {
    const auto at = instead.find(v);
    return at == instead.end() ? v : at->second;
  };
  std::set<ValueId> needed;
  for (const Port& p : outputs) needed.insert(real(p.value));
  for (auto node = g.nodes.rbegin(); node != g.nodes.rend(); ++node)
    if (std::any_of(node->outputs.begin(), node->outputs.end(),
                    [&](ValueId v) { return needed.contains(v) && !cut.contains(v); }))
      for (const ValueId v : node->inputs) needed.insert(real(v));

  Graph part;
  part.name = g.name;
  part.numerics = g.numerics;
  part.sources = g.sources;
  std::map<ValueId, ValueId> of;
  const auto copy = [&](ValueId v) {
    return of[v] = part.add_value(g.values[v].name, g.values[v].type, g.values[v].constant);
  };
  for (const Port& p : g.inputs)
    if (needed.contains(p.value)) part.inputs.push_back({copy(p.value), p.name, p.order});
  for (const ValueId v : cut) {
    if (!needed.contains(v)) continue;
    Axes order(g.type(v).shape.size());
    std::iota(order.begin(), order.end(), 0);
    part.inputs.push_back({copy(v), g.values[v].name, std::move(order)});
  }
  for (const ValueId v : needed)
    if (g.is_constant(v)) copy(v);
  for (const Node& node : g.nodes) {
    if (std::none_of(node.outputs.begin(), node.outputs.end(),
                     [&](ValueId v) { return needed.contains(v) && !cut.contains(v); }))
      continue;
    Node kept = node;
    for (ValueId& v : kept.inputs) v = of.at(real(v));
    for (ValueId& v : kept.outputs)
      v = of.contains(v) ? part.add_value(g.values[v].name, g.type(v)) : copy(v);
    part.nodes.push_back(std::move(kept));
  }
  for (const Port& p : outputs) part.outputs.push_back({of.at(real(p.value)), p.name, p.order});
  return part;
}

// The smallest first.
inline std::vector<Graph> smaller_graphs(const Graph& g) {
  std::vector<Graph> all;
  if (g.outputs.size() > 1)
    for (const Port& p : g.outputs) all.push_back(part_of(g, {p}, {}, {}));
  for (const Node& node : g.nodes) {
    const ValueId y = node.outputs[0];
    Axes order(g.type(y).shape.size());
    std::iota(order.begin(), order.end(), 0);
    if (g.outputs.size() != 1 || g.outputs[0].value != y)
      all.push_back(part_of(g, {{y, g.values[y].name, order}}, {}, {}));
    if (std::none_of(g.outputs.begin(), g.outputs.end(),
                     [&](const Port& p) { return p.value == y; }))
      all.push_back(part_of(g, g.outputs, {node.outputs.begin(), node.outputs.end()}, {}));
    const ValueId x = node.inputs.empty() ? -1 : node.inputs[0];
    if (x >= 0 && !g.is_constant(x) && g.type(x) == g.type(y))
      all.push_back(part_of(g, g.outputs, {}, {{y, x}}));
  }
  Graph plain = g;
  bool has_orders = false;
  for (std::vector<Port>* ports : {&plain.inputs, &plain.outputs})
    for (Port& p : *ports) {
      has_orders = has_orders || !std::is_sorted(p.order.begin(), p.order.end());
      std::iota(p.order.begin(), p.order.end(), 0);
    }
  if (has_orders) all.push_back(std::move(plain));
  std::erase_if(all, [](const Graph& graph) { return graph.nodes.empty(); });
  std::stable_sort(all.begin(), all.end(),
                   [](const Graph& a, const Graph& b) { return a.nodes.size() < b.nodes.size(); });
  return all;
}

}  // namespace deuteron::test
