// SPDX-License-Identifier: Apache-2.0
// What the user's own operators read, give and cost, taken from the graph as it was imported: later
// passes keep only ids of them.
#pragma once
#include <vector>

#include "ir/graph.h"

namespace deuteron {

// Of Graph::sources[k], whose index it has in the list.
struct UserOperator {
  std::vector<i32> inputs;  // the operators whose results it reads, as ids of Graph::sources,
                            // without what a quantizer put between
  std::vector<i32> graph_inputs, graph_outputs;  // inputs that it reads, outputs that it gives
  Shape shape;                                   // of its (last) result, in the user's axes
  DType dtype = DType::f32;
  bool has_result = false;  // false: the imported graph has no node of it (it was a view, a
                            // constant, an identity)
  // only moves elements: a kernel that does so is its own, not one that was added
  bool is_move = false;
  bool is_quantizer = false;  // put around the user's operators by a quantizer
  i64 macs = 0;
};

std::vector<UserOperator> user_operators(const Graph& imported);

// Whether an operator only says which element goes where.
bool only_moves(const Op& op);

}  // namespace deuteron
