// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/kernels/pad/cost.h"
#include "npu/neutron/machine/call_check.h"
#include "npu/neutron/machine/kernel_def.h"

namespace deuteron::neutron {
namespace {

void check(CallCheck& call, Kind, const PadCall& a) {
  const int64_t x_bytes = call.product(a.extent);
  int64_t y_bytes = 1;
  for (int i = 0; i < kMaxRank; ++i) {
    call.need(a.before[i] >= 0 && a.after[i] >= 0, Reason::kExtent);
    const int64_t whole = int64_t{a.before[i]} + a.extent[i] + a.after[i];
    call.need(whole <= kMostBytes, Reason::kExtent);
    if (!call.right()) return;
    y_bytes *= whole;
    call.need(y_bytes <= kMostBytes, Reason::kExtent);
    if (!call.right()) return;
  }
  call.steps({a.value});
  call.reads(a.x, x_bytes);
  call.writes(a.y, y_bytes);
}

}  // namespace

const KernelDef pad_kernel = kernel_def<PadCall, check, cost_of, bytes_of>(Moves::kYes);

}  // namespace deuteron::neutron
