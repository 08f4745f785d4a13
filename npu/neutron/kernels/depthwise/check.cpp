// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/kernels/depthwise/cost.h"
#include "npu/neutron/machine/call_check.h"
#include "npu/neutron/machine/kernel_def.h"

namespace deuteron::neutron {
namespace {

void check(CallCheck& call, Kind, const DepthwiseCall& a) {
  call.product({a.n, a.c, a.multiplier});
  if (!call.right()) return;
  const int32_t channels = a.c * a.multiplier;
  const int64_t x_bytes = call.pixels_span(a.n, a.h, a.w, a.c, a.x_pitch);
  const int64_t y_bytes = call.pixels_span(a.n, a.out_h, a.out_w, channels, a.y_pitch);
  call.window(a.kernel_h, a.stride_h, a.dilation_h, a.pad_top);
  call.window(a.kernel_w, a.stride_w, a.dilation_w, a.pad_left);
  call.steps({a.x_zero, a.y_zero});
  call.bounds(a.y_min, a.y_max);
  if (!call.right()) return;
  call.need(int64_t{a.kernel_h} * a.kernel_w * 8 <= kMostProducts, Reason::kSum);
  if (!call.right()) return;
  call.reads(a.x, x_bytes);
  call.reads_constant(a.weights, depthwise_weight_bytes(a));
  call.reads_params(a.params, channels);
  call.writes(a.y, y_bytes, a.y_pitch > channels && a.x_pitch > a.c);
}

}  // namespace

const KernelDef depthwise_kernel = kernel_def<DepthwiseCall, check, cost_of, bytes_of>(Moves::kNo);

}  // namespace deuteron::neutron
