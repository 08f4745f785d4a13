// SPDX-License-Identifier: Apache-2.0
#include "backends/neutron/kernels/fetch/cost.h"
#include "backends/neutron_model/call_check.h"
#include "backends/neutron_model/kernel_def.h"

namespace deuteron::neutron {
namespace {

void check(CallCheck& call, Kind, const MemCpyCall& a) { call.fetches(a.from, a.to, a.bytes); }

}  // namespace

const KernelDef fetch_kernel = kernel_def<MemCpyCall, check, cost_of, bytes_of>(Moves::kNo);

}  // namespace deuteron::neutron
