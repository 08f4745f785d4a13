// SPDX-License-Identifier: Apache-2.0
// What lives from one call to the next: what a graph's states are, and which of them are none.
#pragma once
#include <optional>
#include <string>

#include "ir/graph.h"

namespace deuteron {

// In a lowered graph a state is written by a call of one of these kernels, or by one that works in
// its place (KernelCall::writes_state), behind every node that reads its old value. The result lies
// where the state lies.
inline constexpr char kStateWrite[] = "aten::copy_", kStateShift[] = "deuteron::shift_in";
bool is_state_write(const Op& op);

// What the first call reads, as the ports store it: in integers where they are quantized.
Constant initial_contents(const Graph& graph, size_t state);

// What the states take of the planned memory, without gaps.
i64 state_bytes(const Graph& graph);

// A state that no output of the user's depends on vanishes, and one that is never changed becomes a
// constant.
void drop_idle_states(Graph& graph);

// The part of the verifier about states: the two ports of each are of one type, order and name; the
// initial contents fit.
std::optional<std::string> find_state_fault(const Graph& graph);

}  // namespace deuteron
