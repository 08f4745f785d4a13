// SPDX-License-Identifier: Apache-2.0
// --prefer fastest: which of the operators that the NPU takes run there, so that the program costs
// least by the cost models.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "compile/cost/program_cost.h"
#include "compile/place/side_costs.h"

namespace deuteron {

struct NpuCrossing;  // targets/target.h

// The cost of the whole program with these nodes on the NPU, compiled to the end; nothing where it
// does not compile.
using Evaluate = std::function<std::optional<ProgramCost>(const std::vector<bool>& on_npu)>;

struct SideChoice {
  std::vector<bool> on_npu;  // by node
  ProgramCost chosen;
  std::optional<ProgramCost> all_npu, all_cpu;
  int evaluated = 0;
};

// Candidates: all that can on the NPU, none, minimum cuts of the graph with the price of each node
// alone and of each tensor that crosses, and from the best of them parts and nodes at the border
// moved to the CPU while that gains. Each is compiled to the end and counted, so the choice never
// costs more than `all on the NPU` nor than `all on the CPU`. Nothing when not even one of them
// compiles.
std::optional<SideChoice> choose_sides(const Graph& graph, const std::vector<bool>& supported,
                                       const std::vector<SideCosts>& costs,
                                       const NpuCrossing& crossing, const Evaluate& evaluate);

}  // namespace deuteron
