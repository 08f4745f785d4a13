// SPDX-License-Identifier: Apache-2.0
// Some nodes of a graph as a graph of their own.
#pragma once
#include <map>

#include "ir/graph.h"

namespace deuteron {

class Subgraph {
 public:
  // With the same sources; or without any, for whoever makes many graphs and says of each what it
  // needs.
  enum class Sources : u8 { same, none };
  Subgraph(const Graph& from, std::string name, Sources sources = Sources::same);
  // Values of the whole graph become values here when they are first met; their order is that of
  // the calls.
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
