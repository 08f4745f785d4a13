// SPDX-License-Identifier: Apache-2.0
// Calls in the counts of their kernel's loops: tiles and blocks filled up, pieces that are copied,
// windows that reach outside. Lines of them are what calibrate-target and bench/loop_costs.cpp fit.
// docs/cpu-cost.md
#pragma once
#include <optional>
#include <string>

#include "ir/graph.h"
#include "runtime/instruction_set.h"
#include "targets/cpu_cost.h"

namespace deuteron {

struct LoopWork {
  std::string kernel;  // of the line: "deuteron::packed_conv2d@pixels"
  CpuWork work;        // whose counts mean what compile/cost/loop_work.cpp says for that line
};
// Nothing for kernels whose calls the counts of cpu_work() tell well enough.
std::optional<LoopWork> loop_work(const Graph& graph, const Node& call, Isa isa);

}  // namespace deuteron
