// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/kernels/rescale/cost.h"
#include "npu/neutron/machine/call_check.h"
#include "npu/neutron/machine/kernel_def.h"

namespace deuteron::neutron {
namespace {

void check(CallCheck& call, Kind, const RescaleCall& a) {
  call.product({a.count});
  call.steps({a.x_zero, a.y_zero});
  call.bounds(a.y_min, a.y_max);
  call.shift(a.shift);
  call.reads(a.x, a.count, true);
  call.writes(a.y, a.count);
}

}  // namespace

const KernelDef rescale_kernel = kernel_def<RescaleCall, check, cost_of, bytes_of>(Moves::kNo);

}  // namespace deuteron::neutron
