// SPDX-License-Identifier: Apache-2.0
// How a network over a window of frames becomes one over the newest frames alone: what of each
// value is new in a step, and how much of it the operators read. compile/simplify/stream.cpp makes
// the graph of it.
#pragma once
#include <optional>
#include <vector>

#include "base/diagnostic.h"
#include "ir/graph.h"

namespace deuteron {

// A value whose rows along one axis move on by `fresh` in every step: row r of a step is row r +
// fresh of the one before.
struct Flow {
  i64 axis = 0, rows = 0;  // in the storage; rows of the whole window
  i64 fresh = 0;           // computed in a step: the last ones
};

// What an operator reads of an operand that flows: of its last `rows` the first `count`.
struct FlowRead {
  i64 rows = 0, count = 0;
};

struct StreamPlan {
  i64 frames = 0, window = 0;
  std::vector<std::optional<Flow>>
      flow;  // by value; nothing: constant, or computed as in the window
  std::vector<std::vector<std::optional<FlowRead>>>
      reads;                  // by node and operand; nothing: as it is
  std::vector<i64> kept;      // by value: rows that the next step needs again
  std::vector<NodeId> whole;  // operators that look at all rows at once, and flow on no more
};

// `axis` as the storage has it, of the user's one input. What cannot step is refused in
// `diagnostics`: padding along the axis, for one.
std::optional<StreamPlan> plan_stream(const Graph& graph, i64 axis, i64 frames,
                                      Diagnostics& diagnostics);

// The fewest frames of a step that every stride divides. 0: no number of frames of the window is.
i64 least_frames(const Graph& graph, i64 axis);

}  // namespace deuteron
