// SPDX-License-Identifier: Apache-2.0
// The CPU's side of the cost model: predicted cycles of a kernel call, from [cpu.cost] and
// [cpu.cycles] of the target file. docs/cpu-cost.md
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "targets/cpu_cost.h"

namespace deuteron {

struct Target;  // targets/target.h

CpuWork cpu_work(const Graph& graph, const Node& call);

// The lines that may hold a call, the first that is there counts: "aten::add.f32" if it touches
// floats, "aten::add", "*.f32", "*". Of a kernel with several loops "NAME/odd" (input channels that
// are no multiple of 4), "NAME/rows" (at most 4 windows, 5 rows), "NAME/short" and "NAME/long"
// (products in tiles of MVE), "NAME/few" (softmax), "NAME/one" and "NAME/four"
// (windows that meet the filters together, where that is not two), "NAME/3x3", "NAME/row" and
// "NAME/row2" (taps along one axis, strides 1 and 2), and then "NAME". `work`: cpu_work() of the
// call.
std::vector<std::string> cost_lines(const Graph& graph, const Node& call, const CpuWork& work);

// By the first of `lines` that the target's [cpu.cost] has; nothing: it has none.
std::optional<i64> cpu_instructions(const std::vector<std::string>& lines, const CpuWork& work,
                                    const Target& target);
// The same in cycles: by the first of them that its [cpu.cycles] has, else at one instruction a
// cycle.
std::optional<i64> cpu_cycles(const std::vector<std::string>& lines, const CpuWork& work,
                              const Target& target);

// By the line of the call's loops (compile/cost/loop_work.h), which is in cycles, else as above.
// Nothing where the target has no [cpu.cost], or no line for the call; nor for a call of a
// delegate.
std::optional<i64> cpu_cycles(const Graph& graph, const Node& call, const Target& target);

// What the target's cycles of the CPU are, in words.
const char* kind_of_cpu_cycles(const Target& target);

}  // namespace deuteron
