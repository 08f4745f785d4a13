// SPDX-License-Identifier: Apache-2.0
// Whether our runtime takes the program that was written: all of loading but what the NPU's driver
// says. A limit of the runtime is the user's, with what was measured and what is allowed.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "ir/graph.h"

namespace deuteron {

// Before it is compiled, and before it is written: what the runtime takes of ports and tensors.
void check_sizes(const Graph& graph, const std::string& target, Diagnostics& diagnostics);
void check_load(const std::vector<uint8_t>& pte, const Graph& graph, const std::string& target,
                Diagnostics& diagnostics);

}  // namespace deuteron
