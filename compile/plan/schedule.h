// SPDX-License-Identifier: Apache-2.0
// In which order the nodes of a graph leave least alive.
#pragma once
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace deuteron {

// The most bytes that are alive at one node when the nodes run in this order: its operands, its
// results, and what is read later. What is the same bytes under another shape takes no room of its
// own. Without scratch, and without results that take the place of an operand.
i64 most_alive(const Graph& g, const std::vector<NodeId>& order);

// An order of the nodes with fewer bytes alive at most than the one they stand in; nothing: none
// was found. Calls of the NPU keep their order among each other, for decisions name them by it.
//
// All orders are grown node by node, together. Those that have run the same nodes are one: the one
// with the least peak. Of the others only so many are kept and grown, those with the least peak and
// then the least alive. So a chain costs nothing, and a few branches are searched wholly. A budget
// of steps, never of time: one graph has one answer.
std::optional<std::vector<NodeId>> order_with_less_alive(const Graph& g);

}  // namespace deuteron
