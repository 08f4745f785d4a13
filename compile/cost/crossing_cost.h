// SPDX-License-Identifier: Apache-2.0
// What it costs to cross the border between the CPU and the NPU, beside the kernels of both.
#pragma once
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace deuteron {

struct NpuCrossing;  // targets/target.h
struct Target;

// Of one tensor of `bytes`, without the call.
i64 crossing_cycles(const NpuCrossing& crossing, i64 bytes);

// Of a transpose that the CPU does inside a delegate's call; nothing without [cpu.cost].
std::optional<i64> border_transpose_cycles(const Target& target, i64 bytes);

// Operands and results of a delegate's call that the CPU transposes: the flags of the payload say
// so.
std::vector<ValueId> transposed_by_cpu(const Node& call);

}  // namespace deuteron
