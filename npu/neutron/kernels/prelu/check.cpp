// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/kernels/prelu/cost.h"
#include "npu/neutron/machine/call_check.h"
#include "npu/neutron/machine/kernel_def.h"

namespace deuteron::neutron {
namespace {

void check(CallCheck& call, Kind, const PreluCall& a) {
  const int64_t bytes = call.product(a.extent),
                alpha_bytes = call.span(a.extent, a.alpha_stride, kMaxRank);
  call.steps({a.x_zero, a.alpha_zero, a.y_zero});
  call.bounds(a.y_min, a.y_max);
  call.shift(a.positive_shift);
  call.shift(a.negative_shift);
  call.reads(a.x, bytes, true);
  call.reads(a.alpha, alpha_bytes);
  call.writes(a.y, bytes);
}

}  // namespace

const KernelDef prelu_kernel = kernel_def<PreluCall, check, cost_of, bytes_of>(Moves::kNo);

}  // namespace deuteron::neutron
