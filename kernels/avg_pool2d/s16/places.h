// SPDX-License-Identifier: Apache-2.0
// The places of an int16 average pooling, and what becomes of a sum.
#pragma once
#include "kernels/avg_pool2d/s16/kernel.h"
#include "kernels/image/window.h"

namespace deuteron {

inline int16_t average_s16(int32_t sum, int32_t taps) {
  const int32_t half = taps / 2;
  return static_cast<int16_t>((sum > 0 ? sum + half : sum - half) / taps);
}

// Calls average(first, rows, columns, y) for each place: the first tap inside, and how many there
// are.
template <class Average>
void each_average_s16(const AvgPool2dS16Args& a, const int16_t* x, int16_t* y, Average average) {
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * a.in_w * a.channels)
    for (int32_t oh = 0; oh < a.out_h; ++oh) {
      const int32_t ih = oh * a.stride_h - a.pad_h;
      const Taps h = taps_inside(ih, a.kernel_h, 1, a.in_h);
      for (int32_t ow = 0; ow < a.out_w; ++ow, y += a.channels) {
        const int32_t iw = ow * a.stride_w - a.pad_w;
        const Taps w = taps_inside(iw, a.kernel_w, 1, a.in_w);
        average(x + ((ih + h.first) * a.in_w + iw + w.first) * a.channels, h.end - h.first,
                w.end - w.first, y);
      }
    }
}

}  // namespace deuteron
