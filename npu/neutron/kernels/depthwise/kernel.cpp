// SPDX-License-Identifier: Apache-2.0
// Eight channels at a time, a tap after the other.
#include "npu/neutron/machine/kernel.h"

#include "npu/neutron/kernels/depthwise/call.h"

namespace deuteron::neutron {
namespace {

constexpr int32_t kUnits = 8;

// sums[unit] += (x - zero) * weight for the eight output channels from oc on; a group's last
// channels may be missing in x.
inline void add_tap(const DepthwiseCall& a, const int8_t* pixel, const int8_t* weights, int32_t oc,
                    int32_t units, uint32_t (&sums)[kUnits]) {
  if (a.multiplier == 1 && units == kUnits) {
    for (int32_t unit = 0; unit < kUnits; ++unit)
      sums[unit] += static_cast<uint32_t>((pixel[oc + unit] - a.x_zero) * weights[unit]);
    return;
  }
  for (int32_t unit = 0; unit < units; ++unit)
    sums[unit] +=
        static_cast<uint32_t>((pixel[(oc + unit) / a.multiplier] - a.x_zero) * weights[unit]);
}

// The taps of one axis that lie inside: first <= k < end.
struct Taps {
  int32_t first, end;
};
Taps taps_inside(int32_t start, int32_t dilation, int32_t kernel, int32_t extent) {
  const int32_t first = start < 0 ? (-start + dilation - 1) / dilation : 0;
  const int32_t end = start >= extent ? 0 : (extent - start + dilation - 1) / dilation;
  return {first, end < kernel ? end : kernel};
}

void convolve(const DepthwiseCall& a, const Memory& memory) {
  const int8_t *x = memory.read(a.x), *weights = memory.read(a.weights),
               *params = memory.read(a.params);
  int8_t* y = memory.write(a.y);
  const int32_t channels = a.c * a.multiplier;
  for (int32_t n = 0; n < a.n; ++n, x += int64_t{a.h} * a.w * a.x_pitch)
    for (int32_t oh = 0; oh < a.out_h; ++oh) {
      const int32_t top = oh * a.stride_h - a.pad_top;
      const Taps rows = taps_inside(top, a.dilation_h, a.kernel_h, a.h);
      for (int32_t ow = 0; ow < a.out_w; ++ow, y += a.y_pitch) {
        const int32_t left = ow * a.stride_w - a.pad_left;
        const Taps columns = taps_inside(left, a.dilation_w, a.kernel_w, a.w);
        for (int32_t oc = 0; oc < channels; oc += kUnits) {
          const int32_t units = channels - oc < kUnits ? channels - oc : kUnits;
          const int8_t* group = weights + int64_t{oc} * a.kernel_h * a.kernel_w;
          uint32_t sums[kUnits] = {};
          for (int32_t kh = rows.first; kh < rows.end; ++kh)
            for (int32_t kw = columns.first; kw < columns.end; ++kw) {
              const int64_t pixel =
                  int64_t{top + kh * a.dilation_h} * a.w + left + kw * a.dilation_w;
              add_tap(a, x + pixel * a.x_pitch, group + (kh * a.kernel_w + kw) * kUnits, oc, units,
                      sums);
            }
          for (int32_t unit = 0; unit < units; ++unit) {
            const ChannelParams p = params_of(params, oc + unit);
            const int32_t sum = static_cast<int32_t>(sums[unit] + static_cast<uint32_t>(p.bias));
            y[oc + unit] = finish(sum, p.multiplier, p.shift, a.y_zero, a.y_min, a.y_max);
          }
        }
      }
    }
}

}  // namespace
}  // namespace deuteron::neutron

DEUTERON_NEUTRON_KERNEL(Conv2DDepthwiseV1, convolve(a, memory))
DEUTERON_NEUTRON_KERNEL(Conv2DDepthwiseV2, convolve(a, memory))
DEUTERON_NEUTRON_KERNEL(Conv2DDepthwiseDense, convolve(a, memory))
