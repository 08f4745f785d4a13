// SPDX-License-Identifier: Apache-2.0
// A lowering's result becomes a node of the graph.
#pragma once
#include <string>

#include "ir/graph.h"

namespace deuteron {

// The call in the place of `node`, which stays in the graph: with new constants and scratch as
// values, and without operands that the call does not mention (a bias folded into other constants).
Node call_node(Graph& g, const Node& node, Lowered lowered);

// A copy of `v` in memory of its own: a call of stock firmware, or one of ours.
ValueId add_copy(Graph& g, ValueId v, bool for_stock, const Origin& origin, std::string name);

// How a node's kernel brings its sum to the result's scale. TFLite's FULLY_CONNECTED rounds once
// and its convolutions twice; a layer may be a convolution by now.
struct Target;
Rounding rounding_of(const Graph& g, const Node& node, const Target& target);

}  // namespace deuteron
