// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/kernels/convolution/check.h"
#include "npu/neutron/kernels/convolution_add/cost.h"
#include "npu/neutron/machine/call_check.h"
#include "npu/neutron/machine/kernel_def.h"

namespace deuteron::neutron {
namespace {

void check(CallCheck& call, Kind, const ConvAddCall& a) {
  const Kind method = method_of(a);
  call.need(method == Kind::kConv2DStandardV1 || method == Kind::kConv2DStandardV2 ||
                method == Kind::kConv2DPointwise,
            Reason::kWindow);
  const int64_t other_bytes =
      call.pixels_span(a.conv.n, a.conv.out_h, a.conv.out_w, a.conv.out_c, a.other_pitch);
  call.need(in(a.left_shift, 0, 22), Reason::kQuantization);
  call.steps({a.x_zero, a.other_zero, a.sum_zero});
  for (const int32_t shift : {a.x_shift, a.other_shift, a.sum_shift}) call.shift(shift);
  call.bounds(a.sum_min, a.sum_max);
  if (!call.right()) return;
  call.reads(a.other, other_bytes);
  check_convolution(call, method, a.conv, a.conv.out_h, a.conv.out_w);
}

}  // namespace

const KernelDef convolution_add_kernel =
    kernel_def<ConvAddCall, check, cost_of, bytes_of>(Moves::kNo);

}  // namespace deuteron::neutron
