// Some nodes of a graph as a graph of their own, with the same sources.
#pragma once
#include <map>

#include "ir/graph.h"

namespace deuteron {

class Subgraph {
 public:
  Subgraph(const Graph& from, std::string name);
  // Values of the whole graph become values here when they are first met; their order is that of the calls.
  void add_input(ValueId v) { graph_.inputs.push_back(port(v)); }
  void add_output(ValueId v) { graph_.outputs.push_back(port(v)); }
  void add(Node node);
  bool has(ValueId v) const { return inner_.count(v) > 0; }
  Graph take() { return std::move(graph_); }

 private:
  ValueId copy(ValueId v);
  Port port(ValueId v);

  const Graph& from_;
  Graph graph_;
  std::map<ValueId, ValueId> inner_;
};

}  // namespace deuteron
