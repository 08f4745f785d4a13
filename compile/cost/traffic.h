// SPDX-License-Identifier: Apache-2.0
// What a kernel call reads and writes of each of its tensors, in bytes: the model by which tensors
// are given a memory. docs/memory-planner.md, "Traffic".
#pragma once
#include <vector>

#include "ir/graph.h"
#include "runtime/isa.h"

namespace deuteron {

struct Bytes {
  i64 read = 0, written = 0;
};
struct Traffic {
  std::vector<Bytes> inputs, outputs;  // of the node
};
// A call of a delegate moves nothing here: the NPU's traffic is the business of its own model.
Traffic traffic_of(const Graph& lowered, const Node& call, Isa isa);

}  // namespace deuteron
