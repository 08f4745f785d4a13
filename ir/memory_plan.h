// SPDX-License-Identifier: Apache-2.0
// Where every value of a lowered graph lies in the planned memory: compile/plan/plan_memory.h
// decides it.
#pragma once
#include <vector>

#include "ir/graph.h"
#include "ir/placement.h"

namespace deuteron {

inline constexpr i64 kPlanAlignment = 16;

struct LiveTensor {
  ValueId value;
  i64 bytes;
};
struct MemoryPlan {
  std::vector<ValueId> root;  // by value: whose memory it lies in
  std::vector<i64> offset;    // by value; -1: not planned (constant, or of no bytes and unused)
  i64 bytes = 0;              // of the one planned buffer, a multiple of kPlanAlignment
  i64 lower_bound = 0;  // no plan of this schedule can be smaller: the largest sum of aligned sizes
                        // alive at one node
  bool optimal = false;   // bytes == lower_bound, or the search proved it
  i64 scratch_bytes = 0;  // the largest scratch of one node (part of `bytes`)
  NodeId peak_node = -1;
  std::vector<LiveTensor> peak;  // alive there, largest first
  MemoryPlacement placement;
};

}  // namespace deuteron
