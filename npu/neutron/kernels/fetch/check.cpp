// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/kernels/fetch/cost.h"
#include "npu/neutron/machine/call_check.h"
#include "npu/neutron/machine/kernel_def.h"

namespace deuteron::neutron {
namespace {

void check(CallCheck& call, Kind, const MemCpyCall& a) { call.fetches(a.from, a.to, a.bytes); }

}  // namespace

const KernelDef fetch_kernel = kernel_def<MemCpyCall, check, cost_of, bytes_of>(Moves::kNo);

}  // namespace deuteron::neutron
