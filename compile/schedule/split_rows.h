// SPDX-License-Identifier: Apache-2.0
// Splits operators into bands of rows where the plan of memory is too large.
#pragma once
#include <compare>
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace deuteron {

// An operator, or a chain of them, computed band after band: rows of the last one's result, and of
// every one before it what these rows need. Between them only one band is alive, and the result may
// lie over rows of the operand that no later band needs. Rows that two bands need are computed by
// both, or kept by the first for the second: copied in front of its new ones (behind them, where
// `upward`).
struct RowSplit {
  std::vector<NodeId> chain;  // in execution order; only the last one's result is read outside
  i64 bands = 2;
  bool keep = false;
  bool upward = false;  // the band with the last rows comes first: then the result may lie a little
                        // behind its operand, else before it
  auto operator<=>(const RowSplit&) const = default;
};

// The longest chain that ends with `last`, of `most` operators at the most: whatever alone makes
// what these read, residual blocks as a whole. It is one without its first operator, too. Empty
// when `last` itself cannot be split.
std::vector<NodeId> chain_up_to(const Graph& g, const Uses& uses, NodeId last, size_t most);

// The graph with these chains in bands: the same bits. Nothing when a band would have no rows, or
// only ones that padding makes. `for_stock`: kept rows are copied by a call of stock firmware.
// `made_from`, when given: by node of the result, the node of g that it comes from.
std::optional<Graph> with_bands(const Graph& g, const Uses& uses,
                                const std::vector<RowSplit>& splits, bool for_stock,
                                std::vector<NodeId>* made_from = nullptr);

}  // namespace deuteron
