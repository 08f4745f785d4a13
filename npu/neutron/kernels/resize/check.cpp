// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/kernels/resize/cost.h"
#include "npu/neutron/machine/call_check.h"
#include "npu/neutron/machine/kernel_def.h"

namespace deuteron::neutron {
namespace {

void check(CallCheck& call, Kind, const ResizeCall& a) {
  const int64_t x_bytes = call.pixels_span(a.n, a.h, a.w, a.c, a.c),
                y_bytes = call.pixels_span(a.n, a.out_h, a.out_w, a.c, a.c);
  call.product({a.c});
  call.need(in(a.align_corners, 0, 1) && in(a.half_pixel_centers, 0, 1) &&
                a.align_corners + a.half_pixel_centers < 2,
            Reason::kWindow);
  call.reads(a.x, x_bytes);
  call.writes(a.y, y_bytes);
}

}  // namespace

const KernelDef resize_kernel = kernel_def<ResizeCall, check, cost_of, bytes_of>(Moves::kNo);

}  // namespace deuteron::neutron
