// SPDX-License-Identifier: Apache-2.0
// The places of an int16 maximum pooling: what each result sees of the image.
#pragma once
#include "kernels/image/window.h"
#include "kernels/max_pool2d/s16/kernel.h"

namespace deuteron {

// The taps of a place that lie inside: `rows` rows of `columns` columns.
struct MaximumPlace {
  const int16_t* first;
  int32_t rows, columns;
};

// Calls at(place, y) for each place.
template <class At>
void each_maximum_s16(const MaxPool2dArgs& a, const int16_t* x, int16_t* y, At at) {
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * a.in_w * a.channels)
    for (int32_t oh = 0; oh < a.out_h; ++oh) {
      const int32_t ih = oh * a.stride_h - a.pad_h;
      const Taps h = taps_inside(ih, a.kernel_h, a.dilation_h, a.in_h);
      for (int32_t ow = 0; ow < a.out_w; ++ow, y += a.channels) {
        const int32_t iw = ow * a.stride_w - a.pad_w;
        const Taps w = taps_inside(iw, a.kernel_w, a.dilation_w, a.in_w);
        const bool any = h.first < h.end && w.first < w.end;
        const int32_t row = any ? ih + h.first * a.dilation_h : 0,
                      column = any ? iw + w.first * a.dilation_w : 0;
        at(MaximumPlace{x + (row * a.in_w + column) * a.channels, any ? h.end - h.first : 0,
                        any ? w.end - w.first : 0},
           y);
      }
    }
}

}  // namespace deuteron
