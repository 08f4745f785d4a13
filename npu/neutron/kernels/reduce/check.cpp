// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/kernels/reduce/cost.h"
#include "npu/neutron/machine/call_check.h"
#include "npu/neutron/machine/kernel_def.h"

namespace deuteron::neutron {
namespace {

void check(CallCheck& call, Kind kind, const ReduceCall& a) {
  const int64_t x_bytes = call.product(a.extent);
  call.need(in(a.axes, 0, (1 << kMaxRank) - 1), Reason::kExtent);
  call.steps({a.x_zero, a.y_zero});
  call.bounds(a.y_min, a.y_max);
  call.shift(a.shift);
  if (!call.right()) return;
  int64_t reduced = 1;
  for (int i = 0; i < kMaxRank; ++i) reduced *= (a.axes >> i & 1) != 0 ? a.extent[i] : 1;
  if (kind != Kind::kReduceMax && kind != Kind::kReduceMin)
    call.need(reduced <= kMostSummed, Reason::kSum);
  call.reads(a.x, x_bytes, true);
  call.writes(a.y, x_bytes / reduced);
}

}  // namespace

const KernelDef reduce_kernel = kernel_def<ReduceCall, check, cost_of, bytes_of>(Moves::kNo);

}  // namespace deuteron::neutron
