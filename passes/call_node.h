// A lowering's result becomes a node of the graph.
#pragma once
#include "ir/graph.h"

namespace deuteron {

// The call in the place of `node`, which stays in the graph: with new constants and scratch as values, and without operands that the call
// does not mention (a bias folded into other constants).
Node call_node(Graph& g, const Node& node, Lowered lowered);

}  // namespace deuteron
