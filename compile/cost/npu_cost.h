// SPDX-License-Identifier: Apache-2.0
// The NPU's side of the cost model, on the open model of the machine: docs/neutron-machine.md.
#pragma once
#include <optional>

#include "ir/graph.h"

namespace deuteron {

struct Npu;  // targets/target.h

// Cycles of a whole partition; nothing when it cannot be converted.
std::optional<i64> npu_cycles(Graph body, const Npu& npu, bool fetch_constants_to_sram);

}  // namespace deuteron
