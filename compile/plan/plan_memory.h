// SPDX-License-Identifier: Apache-2.0
// Gives every value of a lowered graph its place in the planned memory.
#pragma once
#include <string>
#include <vector>

#include "base/allocate/pack_piece.h"
#include "ir/memory_plan.h"

namespace deuteron {

// Views lie inside their operand, parts inside their whole: compile/plan/homes.h. In-place pairs of
// a KernelCall share bytes when the operand has no later use. Graph inputs are alive from the
// start, outputs to the end, and states, whose new value lies where the old one did, all the time.
// Deterministic: a node budget, never a time limit.
MemoryPlan plan_memory(const Graph& lowered);

// What takes memory: tensors that share bytes are one. Of the pairs in place those are taken that
// plan_memory would take where it must.
struct PlannedGroup {
  ValueId root = -1;
  i64 bytes = 0;
  i32 first = 0, last = 0;
  std::vector<PackPiece> pieces;
};
struct PlannedGroups {
  std::vector<PlannedGroup> groups;
  std::vector<i32> group_of;  // by value; -1: not planned
  std::vector<i64> shift;     // by value: from the group's first byte
  i32 moments = 0;
};
PlannedGroups planned_groups(const Graph& lowered);

// By node: the sum of aligned sizes alive there, less what its in-place pairs can save. No plan can
// have less; the largest is lower_bound, but for inputs and outputs that are alive while nothing
// runs.
std::vector<i64> bytes_alive(const Graph& lowered);

}  // namespace deuteron
