// SPDX-License-Identifier: Apache-2.0
// The NPU's side of the cost model, on the open model of the machine: docs/neutron-machine.md.
#pragma once
#include <optional>

#include "ir/graph.h"

namespace deuteron {

struct Npu;  // targets/target.h

struct NpuCost {
  i64 cycles = 0;
  i64 bytes = 0;  // of microcode and weights, filled up to the machine's tiles
};
// Of a whole partition; nothing when it cannot be converted.
std::optional<NpuCost> npu_cost(Graph body, const Npu& npu, bool fetch_constants_to_sram);

}  // namespace deuteron
