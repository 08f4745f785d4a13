// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/kernels/softmax/cost.h"
#include "npu/neutron/machine/call_check.h"
#include "npu/neutron/machine/kernel_def.h"

namespace deuteron::neutron {
namespace {

void check(CallCheck& call, Kind, const SoftmaxCall& a) {
  const int64_t bytes = call.product({a.rows, a.columns});
  call.need(a.multiplier > 0 && in(a.shift, 0, 31) && a.diff_min <= 0, Reason::kQuantization);
  // kernels/softmax/kernel.h: the largest difference, shifted, fits int32.
  const int64_t largest = a.diff_min < -255 ? 255 : -int64_t{a.diff_min};
  if (call.right()) call.need((largest << a.shift) <= int64_t{1} << 31, Reason::kQuantization);
  call.reads(a.x, bytes, true);
  call.writes(a.y, bytes);
}

}  // namespace

const KernelDef softmax_kernel = kernel_def<SoftmaxCall, check, cost_of, bytes_of>(Moves::kNo);

}  // namespace deuteron::neutron
