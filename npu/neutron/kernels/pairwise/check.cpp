// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/kernels/pairwise/cost.h"
#include "npu/neutron/machine/call_check.h"
#include "npu/neutron/machine/kernel_def.h"

namespace deuteron::neutron {
namespace {

void check(CallCheck& call, Kind kind, const PairCall& a) {
  const int64_t bytes = call.product(a.extent);
  const int64_t x_bytes = call.span(a.extent, a.x_stride, kMaxRank),
                other_bytes = call.span(a.extent, a.other_stride, kMaxRank);
  call.bounds(a.y_min, a.y_max);
  if (kind != Kind::kMaximum && kind != Kind::kMinimum) {
    call.steps({a.x_zero, a.other_zero, a.y_zero});
    call.shift(a.y_shift);
  }
  if (kind == Kind::kAdd || kind == Kind::kSub) {
    call.need(in(a.left_shift, 0, 22), Reason::kQuantization);
    call.shift(a.x_shift);
    call.shift(a.other_shift);
  }
  call.reads(a.x, x_bytes, is_dense(a.extent, a.x_stride));
  call.reads(a.other, other_bytes, is_dense(a.extent, a.other_stride));
  call.writes(a.y, bytes);
}

}  // namespace

const KernelDef pairwise_kernel = kernel_def<PairCall, check, cost_of, bytes_of>(Moves::kNo);

}  // namespace deuteron::neutron
