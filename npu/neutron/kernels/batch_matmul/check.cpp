// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/kernels/batch_matmul/cost.h"
#include "npu/neutron/machine/call_check.h"
#include "npu/neutron/machine/kernel_def.h"

namespace deuteron::neutron {
namespace {

void check(CallCheck& call, Kind, const MatMulCall& a) {
  const int32_t x_extent[] = {a.batch, a.m, a.k},
                x_stride[] = {a.x_batch_stride, a.x_m_stride, a.x_k_stride};
  const int32_t other_extent[] = {a.batch, a.k, a.n},
                other_stride[] = {a.other_batch_stride, a.other_k_stride, a.other_n_stride};
  const int64_t y_bytes = call.product({a.batch, a.m, a.n});
  const int64_t x_bytes = call.span(x_extent, x_stride, 3),
                other_bytes = call.span(other_extent, other_stride, 3);
  call.steps({a.x_zero, a.other_zero, a.y_zero});
  call.bounds(a.y_min, a.y_max);
  call.shift(a.shift);
  call.need(a.k <= kMostInner, Reason::kSum);
  call.product({a.batch, a.m, a.k});  // the machine's copies of transposed operands
  call.product({a.batch, a.k, a.n});
  call.reads(a.x, x_bytes);
  call.reads(a.other, other_bytes);
  call.writes(a.y, y_bytes);
}

}  // namespace

const KernelDef batch_matmul_kernel = kernel_def<MatMulCall, check, cost_of, bytes_of>(Moves::kNo);

}  // namespace deuteron::neutron
