// Splits operators into bands of rows where the plan of memory is too large.
#pragma once
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace deuteron {

// An operator, or a chain of them, each the only reader of the one before it, computed band after band: rows of the last one's result, and
// of every one before it what these rows need. Between them only one band is alive, and the result may lie over rows of the operand that
// no later band needs.
struct RowSplit {
  std::vector<NodeId> chain;  // in execution order
  i64 bands = 2;
  bool upward = false;  // the band with the last rows comes first: then the result may lie a little behind its operand, else before it
  bool operator==(const RowSplit&) const = default;
};

// The chain through `node` as far as it reaches both ways; empty when the node itself cannot be split.
std::vector<NodeId> chain_through(const Graph& g, const Uses& uses, NodeId node);

// The graph with these chains in bands: the same bits. Nothing when a band would have no rows, or only ones that padding makes.
// `made_from`, when given: by node of the result, the node of g that it comes from.
std::optional<Graph> with_bands(const Graph& g, const std::vector<RowSplit>& splits, std::vector<NodeId>* made_from = nullptr);

}  // namespace deuteron
