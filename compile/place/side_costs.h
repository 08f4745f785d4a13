// SPDX-License-Identifier: Apache-2.0
// What one operator costs on either side when it stands alone. What neighbours share (fused bounds,
// one delegate's call) is not in it.
#pragma once
#include <span>

#include "compile/pass.h"

namespace deuteron {

struct SideCosts {
  i64 npu = -1,
      cpu = -1;  // cycles, waiting for memories included; -1: not known, or not possible there
};
// `takes`: the NPU takes it. The graph is that of the pass before or at `partition`: int8 operators
// without kernels.
SideCosts side_costs(const PassContext& pass, const Node& node, bool takes);
// That operators read.
i64 bytes_of_constants(const Graph& g);

// The same of several, all of which the NPU takes, as one part: what they share is in it.
// `crossing`: of the tensors that go in and come out.
struct PartCosts {
  SideCosts sides;
  i64 crossing = 0;
  i64 npu_bytes = 0, cpu_bytes = 0;  // of constants and microcode
};
PartCosts part_costs(const PassContext& pass, const Uses& uses, std::span<const NodeId> nodes);

}  // namespace deuteron
