// SPDX-License-Identifier: Apache-2.0
// Gives each tensor and each constant of a lowered program one of the target's memories, so that
// the CPU waits least for what it reads and writes. docs/memory-planner.md, "Several memories".
#pragma once
#include "compile/options.h"
#include "compile/plan/plan_memory.h"
#include "targets/target.h"

namespace deuteron {

// There are several memories for tensors, and the target says how fast one of them is.
bool places_memories(const Target& target, const CompileOptions& options);

struct MemoryRequest {
  const Graph& lowered;
  const Target& target;
  i64 resident = 0;    // bytes of the NPU's constants beside the plan: compile/schedule/memories.h
  i32 home = -1;       // memory of the target where the file lies; -1: no flash
  bool copies = true;  // constants may be copied into faster memories when the program is loaded
};
struct MemoryAnswer {
  bool fits = false;
  MemoryPlan plan;  // with its placement
  // Where it does not fit: so many bytes more of that memory, the largest, would do.
  i64 missing = 0;
  std::string short_of;
};
MemoryAnswer place_memories(const MemoryRequest& request);

}  // namespace deuteron
