// SPDX-License-Identifier: Apache-2.0
#include "compile/compilation.h"

#include <algorithm>

#include "ops/families.h"

namespace deuteron {

i64 NpuDecisions::cycles() const {
  i64 sum = 0;
  for (const NpuKernel& kernel : kernels) sum += kernel.cost.total();
  return sum;
}

i64 NpuDecisions::not_predicted() const {
  return unnamed_delegates + std::count_if(kernels.begin(), kernels.end(),
                                           [](const NpuKernel& k) { return !k.is_predicted; });
}

std::string name_of(const NpuKernel& kernel) {
  return kernel.vendor_name.empty() ? name_of(kernel.kind) : kernel.vendor_name;
}

const std::vector<uint8_t>& program_to_run(const Compilation& c) {
  return c.npu.own_conversions.empty() ? c.pte : c.own_pte;
}

i64 macs_of(const Compilation& c) {
  std::vector<i64> inside;     // by delegate call; -1: its converter names no kernels
  std::vector<bool> is_known;  // of all its kernels
  for (const NpuKernel& kernel : c.npu.kernels) {
    const auto at = static_cast<size_t>(kernel.delegate);
    inside.resize(std::max(inside.size(), at + 1), -1);
    is_known.resize(inside.size(), true);
    inside[at] = std::max<i64>(inside[at], 0) + kernel.cost.macs;
    if (!kernel.is_predicted) is_known[at] = false;
  }
  for (size_t k = 0; k < inside.size(); ++k)
    if (!is_known[k]) inside[k] = -1;
  i64 sum = 0;
  size_t delegate = 0;
  for (const Node& node : c.graph.nodes) {
    const auto* call = call_of(node.op);
    if (!call) continue;
    const size_t at = call->delegate ? delegate++ : inside.size();
    sum += at < inside.size() && inside[at] >= 0 ? inside[at] : call->macs;
  }
  return sum;
}

}  // namespace deuteron
