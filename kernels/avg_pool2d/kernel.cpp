// SPDX-License-Identifier: Apache-2.0
// Portable average pooling: the sums of a block of channels lie on the stack, and each tap adds to
// all of them.
#include "kernels/avg_pool2d/kernel.h"

#include "kernels/common/host_clones.h"
#include "kernels/image/window.h"

// Only pixels of fewer channels than the DSP kernel takes come here: no more code for them than
// they need.
#if defined(__ARM_FEATURE_DSP)
#pragma GCC optimize("Os")
#endif

namespace deuteron {
namespace {

constexpr int32_t kBlock = 64;

// One output pixel; `first` is the first tap inside.
void average(const AvgPool2dArgs& a, const int8_t* first, int32_t taps_h, int32_t taps_w,
             int8_t* y) {
  const int32_t taps = taps_h * taps_w, half = taps / 2, begin = -a.base * taps;
  int32_t sums[kBlock];
  for (int32_t c = 0; c < a.channels; c += kBlock) {
    const int32_t count = a.channels - c < kBlock ? a.channels - c : kBlock;
    for (int32_t i = 0; i < count; ++i) sums[i] = begin;
    for (int32_t h = 0; h < taps_h; ++h)
      for (int32_t w = 0; w < taps_w; ++w) {
        const int8_t* from = first + (h * a.in_w + w) * a.channels + c;
        for (int32_t i = 0; i < count; ++i) sums[i] += from[i];
      }
    for (int32_t i = 0; i < count; ++i)
      y[c + i] =
          static_cast<int8_t>((sums[i] > 0 ? sums[i] + half : sums[i] - half) / taps + a.base);
  }
}

}  // namespace

DEUTERON_HOST_CLONES void avg_pool2d_s8(const AvgPool2dArgs& a, const int8_t* x, int8_t* y) {
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * a.in_w * a.channels)
    for (int32_t oh = 0; oh < a.out_h; ++oh) {
      const int32_t ih = oh * a.stride_h - a.pad_h;
      const Taps h = taps_inside(ih, a.kernel_h, 1, a.in_h);
      for (int32_t ow = 0; ow < a.out_w; ++ow, y += a.channels) {
        const int32_t iw = ow * a.stride_w - a.pad_w;
        const Taps w = taps_inside(iw, a.kernel_w, 1, a.in_w);
        average(a, x + ((ih + h.first) * a.in_w + iw + w.first) * a.channels, h.end - h.first,
                w.end - w.first, y);
      }
    }
}

}  // namespace deuteron
