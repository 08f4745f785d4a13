// SPDX-License-Identifier: Apache-2.0
#include "compile/place/subgraph.h"

#include <numeric>

namespace deuteron {

Subgraph::Subgraph(const Graph& from, std::string name, Sources sources) : from_(from) {
  graph_.name = std::move(name);
  if (sources == Sources::same) graph_.sources = from.sources;
}

ValueId Subgraph::copy(ValueId v) {
  const auto [at, added] = inner_.emplace(v, static_cast<ValueId>(graph_.values.size()));
  if (added) graph_.values.push_back(from_.values[v]);
  return at->second;
}

Port Subgraph::port(ValueId v) {
  Axes order(from_.type(v).shape.size());
  std::iota(order.begin(), order.end(), 0);
  return Port{copy(v), from_.values[v].name, std::move(order)};
}

void Subgraph::add(Node node) {
  for (ValueId& v : node.inputs) v = copy(v);
  for (ValueId& v : node.outputs) v = copy(v);
  graph_.nodes.push_back(std::move(node));
}

}  // namespace deuteron
