// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/kernels/fully_connected/cost.h"
#include "npu/neutron/machine/call_check.h"
#include "npu/neutron/machine/kernel_def.h"

namespace deuteron::neutron {
namespace {

void check(CallCheck& call, Kind, const FullyConnectedCall& a) {
  const int64_t x_bytes = call.product({a.rows, a.in}), y_bytes = call.product({a.rows, a.out});
  call.steps({a.x_zero, a.y_zero});
  call.bounds(a.y_min, a.y_max);
  if (!call.right()) return;
  call.reads(a.x, x_bytes);
  call.reads_constant(a.weights, fully_connected_weight_bytes(a));
  call.reads_params(a.params, a.out);
  call.writes(a.y, y_bytes);
}

}  // namespace

const KernelDef fully_connected_kernel =
    kernel_def<FullyConnectedCall, check, cost_of, bytes_of>(Moves::kNo);

}  // namespace deuteron::neutron
