// SPDX-License-Identifier: Apache-2.0
// Lines of [cpu.cost] and [cpu.cycles] from the cycles that calls took on a chip.
// docs/cpu-cost.md, "Of your chip"
#pragma once
#include <span>
#include <string>
#include <vector>

#include "targets/cpu_cost.h"

namespace deuteron {

struct Target;  // targets/target.h

struct MeasuredCall {
  std::vector<std::string> lines;  // cost_lines()
  CpuWork work;
  double cycles = 0;
};

struct CostFit {
  std::vector<CpuKernelCost> cost;      // of every kernel that the target knows
  std::vector<CpuKernelCycles> cycles;  // 256 for those that were fitted
  struct Line {
    std::string kernel;
    size_t calls;
    double typical, largest;  // relative errors of the calls: their median, and the worst
    bool is_fitted;           // of few calls only the ratio to the target's own line is known
    bool is_known;
  };
  std::vector<Line> lines;  // of the kernels that were measured
};
// Fitted: least squares of the relative errors, with no coefficient below zero. A
// kernel without enough calls keeps its line; its [cpu.cycles] are what its own calls, else those
// of the kernel whose name it begins with, else all calls took. `target` must have [cpu.cost].
CostFit fit_cost(std::span<const MeasuredCall> calls, const Target& target);

}  // namespace deuteron
