// SPDX-License-Identifier: Apache-2.0
// What lies outside x takes no part. The driver has checked that every window reaches into x.
#include "npu/neutron/machine/kernel.h"

#include "npu/neutron/kernels/pool/call.h"

namespace deuteron::neutron {
namespace {

constexpr int32_t kChannels = 32;  // at a time

// What the kernels differ in: the start, a tap, and the result of `taps` taps.
struct Most {
  static constexpr int32_t kStart = -128;
  static int32_t take(int32_t so_far, int32_t v) { return v > so_far ? v : so_far; }
  static int32_t result(int32_t v, int32_t) { return v; }
};
struct Mean {
  static constexpr int32_t kStart = 0;
  static int32_t take(int32_t so_far, int32_t v) { return so_far + v; }
  static int32_t result(int32_t sum, int32_t taps) {
    return (sum > 0 ? sum + taps / 2 : sum - taps / 2) / taps;
  }
};

int32_t first_inside(int32_t start, int32_t step) {
  return start >= 0 ? start : start + (-start + step - 1) / step * step;
}
int32_t end_inside(int32_t start, int32_t step, int32_t kernel, int32_t extent) {
  const int32_t end = start + (kernel - 1) * step + 1;
  return end < extent ? end : extent;
}

template <class How>
void pool(const PoolCall& a, const Memory& memory) {
  const int8_t* x = memory.read(a.x);
  int8_t* y = memory.write(a.y);
  for (int32_t n = 0; n < a.n; ++n, x += int64_t{a.h} * a.w * a.x_pitch)
    for (int32_t oh = 0; oh < a.out_h; ++oh) {
      const int32_t top = oh * a.stride_h - a.pad_top;
      const int32_t ih = first_inside(top, a.dilation_h),
                    bottom = end_inside(top, a.dilation_h, a.kernel_h, a.h);
      for (int32_t ow = 0; ow < a.out_w; ++ow, y += a.y_pitch) {
        const int32_t left = ow * a.stride_w - a.pad_left;
        const int32_t iw = first_inside(left, a.dilation_w),
                      right = end_inside(left, a.dilation_w, a.kernel_w, a.w);
        const int32_t taps = ((bottom - ih + a.dilation_h - 1) / a.dilation_h) *
                             ((right - iw + a.dilation_w - 1) / a.dilation_w);
        for (int32_t c = 0; c < a.c; c += kChannels) {
          const int32_t count = a.c - c < kChannels ? a.c - c : kChannels;
          int32_t value[kChannels];
          for (int32_t& v : value) v = How::kStart;
          for (int32_t row = ih; row < bottom; row += a.dilation_h)
            for (int32_t column = iw; column < right; column += a.dilation_w) {
              const int8_t* pixel = x + (int64_t{row} * a.w + column) * a.x_pitch + c;
              for (int32_t i = 0; i < count; ++i) value[i] = How::take(value[i], pixel[i]);
            }
          for (int32_t i = 0; i < count; ++i)
            y[c + i] = static_cast<int8_t>(clamp_to(How::result(value[i], taps), a.y_min, a.y_max));
        }
      }
    }
}

}  // namespace
}  // namespace deuteron::neutron

DEUTERON_NEUTRON_KERNEL(MaxPool, pool<Most>(a, memory))
DEUTERON_NEUTRON_KERNEL(AvgPool, pool<Mean>(a, memory))
