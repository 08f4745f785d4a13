// SPDX-License-Identifier: Apache-2.0
// What the NPU of a target runs of a graph, and why it does not run the rest.
#pragma once
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "ir/graph.h"

namespace deuteron {

struct NpuOptions;  // compile/npu_options.h
struct Target;

// The checks of a node, in order; the last one is the one that failed, if any did.
std::vector<NpuCheck> npu_checks(const Graph&, const Node&, const Target&, const NpuOptions&);
inline bool passed(const std::vector<NpuCheck>& checks) {
  return checks.empty() || checks.back().passed;
}
bool npu_takes(const Graph&, const Node&, const Target&, const NpuOptions&);

// An exclusion that matches nothing is an error, with the nearest names.
void check_exclusions(const Graph&, const NpuOptions&, Diagnostics&);

// "kernel taps, channels rounded up to the MAC width: 66560, limit 65535 [neutron.conv2d.taps]"
std::string to_text(const NpuCheck&);

}  // namespace deuteron
