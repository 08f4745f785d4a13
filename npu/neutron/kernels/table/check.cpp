// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/kernels/table/cost.h"
#include "npu/neutron/machine/call_check.h"
#include "npu/neutron/machine/kernel_def.h"

namespace deuteron::neutron {
namespace {

void check(CallCheck& call, Kind, const TableCall& a) {
  call.product({a.count});
  call.reads(a.x, a.count, true);
  call.reads_constant(a.table, 256);
  call.writes(a.y, a.count);
}

}  // namespace

const KernelDef table_kernel = kernel_def<TableCall, check, cost_of, bytes_of>(Moves::kNo);

}  // namespace deuteron::neutron
