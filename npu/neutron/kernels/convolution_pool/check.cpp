// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/kernels/convolution/check.h"
#include "npu/neutron/kernels/convolution_pool/cost.h"
#include "npu/neutron/machine/call_check.h"
#include "npu/neutron/machine/kernel_def.h"

namespace deuteron::neutron {
namespace {

void check(CallCheck& call, Kind kind, const ConvPoolCall& a) {
  call.need(a.pool_h >= 1 && a.pool_w >= 1 && a.pool_h <= a.conv.out_h &&
                a.pool_w <= a.conv.out_w && in(a.average, 0, 1),
            Reason::kWindow);
  call.bounds(a.pool_min, a.pool_max);
  if (!call.right()) return;
  call.need(int64_t{a.pool_h} * a.pool_w <= kMostSummed, Reason::kSum);
  if (call.right())
    check_convolution(call, convolution_of(kind), a.conv, a.conv.out_h / a.pool_h,
                      a.conv.out_w / a.pool_w);
}

}  // namespace

const KernelDef convolution_pool_kernel =
    kernel_def<ConvPoolCall, check, cost_of, bytes_of>(Moves::kNo);

}  // namespace deuteron::neutron
