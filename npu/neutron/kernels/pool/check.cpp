// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/kernels/pool/cost.h"
#include "npu/neutron/machine/call_check.h"
#include "npu/neutron/machine/kernel_def.h"

namespace deuteron::neutron {
namespace {

// Every window of an axis has a tap inside x.
bool reaches(int32_t extent, int32_t out, int32_t kernel, int32_t stride, int32_t dilation,
             int32_t pad) {
  for (int32_t o = 0; o < out; ++o) {
    const int32_t start = o * stride - pad, end = start + (kernel - 1) * dilation;
    const int32_t first =
        start >= 0 ? start : start + (-start + dilation - 1) / dilation * dilation;
    if (first >= extent || first > end) return false;
  }
  return true;
}

void check(CallCheck& call, Kind kind, const PoolCall& a) {
  const int64_t x_bytes = call.pixels_span(a.n, a.h, a.w, a.c, a.x_pitch);
  const int64_t y_bytes = call.pixels_span(a.n, a.out_h, a.out_w, a.c, a.y_pitch);
  call.product({a.c});
  call.window(a.kernel_h, a.stride_h, a.dilation_h, a.pad_top,
              a.dilation_h == 1 ? kMostPixels : kMostWindow);
  call.window(a.kernel_w, a.stride_w, a.dilation_w, a.pad_left,
              a.dilation_w == 1 ? kMostPixels : kMostWindow);
  call.bounds(a.y_min, a.y_max);
  if (!call.right()) return;
  if (kind == Kind::kAvgPool) {
    call.need(a.dilation_h == 1 && a.dilation_w == 1, Reason::kWindow);
    const int64_t rows = a.kernel_h < a.h ? a.kernel_h : a.h,
                  columns = a.kernel_w < a.w ? a.kernel_w : a.w;
    call.need(rows * columns <= kMostSummed, Reason::kSum);
  }
  call.need(reaches(a.h, a.out_h, a.kernel_h, a.stride_h, a.dilation_h, a.pad_top),
            Reason::kWindow);
  call.need(reaches(a.w, a.out_w, a.kernel_w, a.stride_w, a.dilation_w, a.pad_left),
            Reason::kWindow);
  call.reads(a.x, x_bytes);
  call.writes(a.y, y_bytes, a.y_pitch > a.c && a.x_pitch > a.c);
}

}  // namespace

const KernelDef pool_kernel = kernel_def<PoolCall, check, cost_of, bytes_of>(Moves::kNo);

}  // namespace deuteron::neutron
