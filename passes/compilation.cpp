#include "passes/compilation.h"

#include "ops/families.h"

namespace deuteron {

i64 NpuDecisions::cycles() const {
  i64 sum = 0;
  for (const NpuKernel& kernel : kernels) sum += kernel.cost.total();
  return sum;
}

i64 macs_of(const Compilation& c) {
  std::vector<i64> inside;  // by delegate call; -1: its converter names no kernels
  for (const NpuKernel& kernel : c.npu.kernels) {
    inside.resize(std::max(inside.size(), static_cast<size_t>(kernel.delegate) + 1), -1);
    i64& macs = inside[kernel.delegate];
    macs = std::max<i64>(macs, 0) + kernel.cost.macs;
  }
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
