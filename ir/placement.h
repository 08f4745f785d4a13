// SPDX-License-Identifier: Apache-2.0
// Which of the target's memories each tensor and each constant lies in:
// compile/schedule/place_memories.cpp decides it.
#pragma once
#include <string>
#include <vector>

#include "ir/graph.h"

namespace deuteron {

// One of several buffers. In MemoryPlan::offset they lie one after the other.
struct PlannedBuffer {
  std::string memory;  // the target's name of where it lies
  i64 begin = 0;       // in the plan
  i64 bytes = 0;       // aligned, with the copies
  i64 copies_at = 0;   // from `begin`: behind the tensors lie copies of constants, to the end
};
enum class ThingKind : u8 { tensor, scratch, state, constant };
struct PlacedThing {
  ValueId value;  // the first of those that share its bytes
  ThingKind kind;
  i32 memory;                // of MemoryPlacement::memories
  i64 bytes, read, written;  // the last two by a whole inference
  i64 cycles;                // that the CPU waits for it
};
struct MemoryUse {
  std::string name;
  bool is_flash = false;
  i64 bytes = 0;                   // for tensors and copies; 0: not limited
  i64 tensors = 0, constants = 0;  // bytes used
};
struct MemoryPlacement {
  std::vector<PlannedBuffer> buffers;
  std::vector<i32> copied_to;  // by value: the buffer into which a constant is copied when the
                               // program is loaded; -1: it stays
  std::vector<MemoryUse> memories;
  std::vector<PlacedThing> things;  // hottest first
  i64 cycles = 0, bound = 0;        // of waiting; no placement has less than the bound
  i64 greedy_cycles = -1,
      slowest_cycles = -1;  // placed by hand; all where it is slowest. -1: does not fit
  bool is_optimal = false;
  i32 home = -1;  // memory of the file; -1: the target has no flash

  // Else all lies in one memory, as the target has no other or says no speeds.
  bool is_placed() const { return !memories.empty(); }
};

}  // namespace deuteron
