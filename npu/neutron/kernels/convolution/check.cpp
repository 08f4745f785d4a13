// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/kernels/convolution/check.h"
#include "npu/neutron/kernels/convolution/cost.h"
#include "npu/neutron/machine/call_check.h"
#include "npu/neutron/machine/kernel_def.h"

namespace deuteron::neutron {

void check_convolution(CallCheck& call, Kind kind, const ConvCall& a, int32_t y_h, int32_t y_w) {
  const int64_t x_bytes = call.pixels_span(a.n, a.h, a.w, a.c, a.x_pitch);
  const int64_t y_bytes = call.pixels_span(a.n, y_h, y_w, a.out_c, a.y_pitch);
  call.pixels_span(a.n, a.out_h, a.out_w, 1, 1);
  call.product({a.c});
  call.product({a.out_c});
  call.window(a.kernel_h, a.stride_h, a.dilation_h, a.pad_top);
  call.window(a.kernel_w, a.stride_w, a.dilation_w, a.pad_left);
  if (kind == Kind::kConv2DPointwise)
    call.need(a.kernel_h == 1 && a.kernel_w == 1, Reason::kWindow);
  if (kind == Kind::kConv2DStandardV2) call.need(a.dilation_w == 1, Reason::kWindow);
  call.steps({a.x_zero, a.y_zero});
  call.bounds(a.y_min, a.y_max);
  if (!call.right()) return;
  call.need(int64_t{a.kernel_h} * a.kernel_w * round_up_to(a.c, 8) <= kMostProducts, Reason::kSum);
  if (!call.right()) return;
  call.reads(a.x, x_bytes);
  call.reads_constant(a.weights, conv_weight_bytes(kind, a));
  call.reads_params(a.params, a.out_c);
  call.writes(a.y, y_bytes, a.y_pitch > a.out_c && a.x_pitch > a.c);
}

namespace {

void check(CallCheck& call, Kind kind, const ConvCall& a) {
  check_convolution(call, kind, a, a.out_h, a.out_w);
}

}  // namespace

const KernelDef convolution_kernel = kernel_def<ConvCall, check, cost_of, bytes_of>(Moves::kNo);

}  // namespace deuteron::neutron
