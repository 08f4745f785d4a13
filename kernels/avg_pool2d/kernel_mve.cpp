// SPDX-License-Identifier: Apache-2.0
// Average pooling with the M-profile Vector Extension: the sums of 8 channels of an output pixel at
// a time, divided one by one.
#include <arm_mve.h>

#include "kernels/avg_pool2d/kernel.h"
#include "kernels/common/one_copy.h"
#include "kernels/image/window.h"

namespace deuteron {
namespace {

constexpr int32_t kChannels = 8;
constexpr int32_t kTapsAtOnce = 255;  // sums of so many int8 fit int16

// One output pixel; `first` is the first tap inside.
DEUTERON_ONE_COPY void average_mve(const AvgPool2dArgs& a, const int8_t* first, int32_t taps_h,
                                   int32_t taps_w, int8_t* y) {
  const int32_t taps = taps_h * taps_w, half = taps / 2;
  const int32x4_t begin = vdupq_n_s32(-a.base * taps);
  for (int32_t c = 0; c < a.channels; c += kChannels) {
    const int32_t count = a.channels - c < kChannels ? a.channels - c : kChannels;
    const mve_pred16_t here = vctp16q(static_cast<uint32_t>(count));
    int32x4x2_t sums = {{begin, begin}};  // of even channels, of odd ones
    for (int32_t h = 0; h < taps_h; ++h) {
      const int8_t* from = first + h * a.in_w * a.channels + c;
      for (int32_t done = 0; done < taps_w; done += kTapsAtOnce) {
        const int32_t left = taps_w - done;
        int16x8_t sum = vdupq_n_s16(0);
        for (int32_t w = left < kTapsAtOnce ? left : kTapsAtOnce; w > 0; --w, from += a.channels)
          sum = vaddq_s16(sum, vldrbq_z_s16(from, here));
        sums.val[0] = vaddq_s32(sums.val[0], vmovlbq_s16(sum));
        sums.val[1] = vaddq_s32(sums.val[1], vmovltq_s16(sum));
      }
    }
    for (int32x4_t& v : sums.val)
      v = vaddq_s32(v, vpselq_s32(vdupq_n_s32(half), vdupq_n_s32(-half), vcmpgtq_n_s32(v, 0)));
    int32_t of[kChannels];
    vst2q_s32(of, sums);
#pragma GCC unroll 1  // divisions wait for each other: nothing is won by eight copies
    for (int32_t i = 0; i < count; ++i) y[c + i] = static_cast<int8_t>(of[i] / taps + a.base);
  }
}

}  // namespace

void avg_pool2d_s8_mve(const AvgPool2dArgs& a, const int8_t* x, int8_t* y) {
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * a.in_w * a.channels)
    for (int32_t oh = 0; oh < a.out_h; ++oh) {
      const int32_t ih = oh * a.stride_h - a.pad_h;
      const Taps h = taps_inside(ih, a.kernel_h, 1, a.in_h);
      for (int32_t ow = 0; ow < a.out_w; ++ow, y += a.channels) {
        const int32_t iw = ow * a.stride_w - a.pad_w;
        const Taps w = taps_inside(iw, a.kernel_w, 1, a.in_w);
        average_mve(a, x + ((ih + h.first) * a.in_w + iw + w.first) * a.channels, h.end - h.first,
                    w.end - w.first, y);
      }
    }
}

}  // namespace deuteron
