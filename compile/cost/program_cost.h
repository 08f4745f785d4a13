// SPDX-License-Identifier: Apache-2.0
// What a whole program costs by the cost models of both sides, and what crosses the border between
// them.
#pragma once
#include <vector>

#include "ir/graph.h"

namespace deuteron {

struct MemoryRegion;  // targets/target.h
struct Target;

// A tensor that goes into or comes out of a call of the NPU.
struct Crossing {
  ValueId value;
  i32 delegate;  // call of the NPU
  bool to_npu;
  i64 bytes;
};

struct ProgramCost {
  i64 npu = 0, cpu = 0, crossing = 0;  // cycles
  i64 wait = 0;                        // of the CPU, for constants that it reads from a slow memory
  i64 tensor_wait = 0;                 // and for tensors in one
  i64 calls = 0;                       // of the NPU
  i64 not_known = 0;                   // calls of the CPU without a line in [cpu.cost]
  i64 transposes = 0;                  // calls of the CPU that change the order of axes
  // tensors that the CPU transposes inside the NPU's calls; their cycles are the crossing's
  i64 border_transposes = 0;
  std::vector<Crossing> crossings;
  const char* kind_of_cpu = "";  // what `cpu` is, in words: kind_of_cpu_cycles()
  i64 total() const { return npu + cpu + crossing + wait + tensor_wait; }
  i64 crossing_bytes() const {
    i64 sum = 0;
    for (const Crossing& c : crossings) sum += c.bytes;
    return sum;
  }
};

// Where the CPU reads its constants: a memory for constants alone, if there is one. Null: there is
// none.
const MemoryRegion* memory_of_constants(const Target& target);
// Where its tensors lie. Null: in one of several memories.
const MemoryRegion* memory_of_tensors(const Target& target);

// `npu_cycles`: of all kernels in delegates.
ProgramCost program_cost(const Graph& lowered, i64 npu_cycles, const Target& target);

}  // namespace deuteron
