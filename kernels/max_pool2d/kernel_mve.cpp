// SPDX-License-Identifier: Apache-2.0
// Maximum pooling with the M-profile Vector Extension: windows side by side, 16 channels at
// a time.
#include <arm_mve.h>

#include "kernels/image/window.h"
#include "kernels/max_pool2d/kernel.h"
#include "kernels/max_pool2d/taps_mve.h"

namespace deuteron {

void max_pool2d_s8_mve(const MaxPool2dArgs& a, const int8_t* x, int8_t* y) {
  alignas(16) int8_t low[16];
  vst1q_s8(low, vdupq_n_s8(static_cast<int8_t>(a.y_min)));
  const int32_t channels = a.channels, tap = a.dilation_w * channels,
                row = a.dilation_h * a.in_w * channels;
  MveMaxima maxima{low, low, y, channels, 0, 0, 0, 0, tap, 0, 0, a.y_max};
  // where a window may begin that has all of its columns inside
  const int32_t last = a.in_w - 1 - (a.kernel_w - 1) * a.dilation_w;
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * a.in_w * channels)
    for (int32_t oh = 0; oh < a.out_h; ++oh) {
      const int32_t ih = oh * a.stride_h - a.pad_h;
      const Taps h = taps_inside(ih, a.kernel_h, a.dilation_h, a.in_h);
      const int8_t* const line = x + ih * a.in_w * channels + h.first * row;
      for (int32_t ow = 0, count; ow < a.out_w; ow += count, y += count * channels) {
        const int32_t iw = ow * a.stride_w - a.pad_w;
        const Taps w = taps_inside(iw, a.kernel_w, a.dilation_w, a.in_w);
        count = iw < 0 || iw > last ? 1 : (last - iw) / a.stride_w + 1;
        if (count > a.out_w - ow) count = a.out_w - ow;
        const int32_t columns = w.end - w.first, taps = (h.end - h.first) * columns;
        maxima.at = taps > 0 ? line + iw * channels + w.first * tap : low;
        maxima.y = y;
        maxima.step = taps > 0 ? a.stride_w * channels : 0;
        maxima.windows = count, maxima.columns = columns, maxima.taps = taps;
        maxima.to_next_row = row - columns * tap, maxima.left = channels;
        deuteron_maxima_mve(&maxima);
      }
    }
}

}  // namespace deuteron
