// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/kernels/copy/cost.h"
#include "npu/neutron/machine/call_check.h"
#include "npu/neutron/machine/kernel_def.h"

namespace deuteron::neutron {
namespace {

void check(CallCheck& call, Kind, const CopyCall& a) {
  call.product(a.extent);
  const int64_t x_bytes = call.span(a.extent, a.x_stride, kMaxRank),
                y_bytes = call.span(a.extent, a.y_stride, kMaxRank);
  for (int i = 0; i < kMaxRank; ++i)
    call.need(a.extent[i] == 1 || a.y_stride[i] > 0, Reason::kExtent);
  call.reads(a.x, x_bytes);
  call.writes(a.y, y_bytes, !is_dense(a.extent, a.y_stride));
}

}  // namespace

const KernelDef copy_kernel = kernel_def<CopyCall, check, cost_of, bytes_of>(Moves::kYes);

}  // namespace deuteron::neutron
