// The places of an int16 depthwise convolution: what each result sees of the image.
#pragma once
#include "ops/depthwise_conv2d_s16/kernel.h"
#include "ops/image/window.h"

namespace deuteron {

// The taps of one place that lie inside: `rows` rows of `columns` columns.
struct DepthwisePlace {
  const int16_t *x, *weight;  // of the first tap
  int32_t rows, columns;
  int32_t x_column, x_row, weight_row;  // elements from a tap to the next, from a row's first tap to the next row's
};

// Calls at(place, y) for each place.
template <class At>
void each_place(const DepthwiseS16Args& a, const int16_t* x, const int16_t* weight, int16_t* y, At at) {
  const int32_t c = a.channels;
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * a.in_w * c)
    for (int32_t oh = 0; oh < a.out_h; ++oh) {
      const int32_t ih = oh * a.stride_h - a.pad_h;
      const Taps h = taps_inside(ih, a.kernel_h, a.dilation_h, a.in_h);
      for (int32_t ow = 0; ow < a.out_w; ++ow, y += c) {
        const int32_t iw = ow * a.stride_w - a.pad_w;
        const Taps w = taps_inside(iw, a.kernel_w, a.dilation_w, a.in_w);
        const bool any = h.first < h.end && w.first < w.end;
        const int32_t row = any ? ih + h.first * a.dilation_h : 0, column = any ? iw + w.first * a.dilation_w : 0;
        at(DepthwisePlace{x + (row * a.in_w + column) * c, weight + (any ? h.first * a.kernel_w + w.first : 0) * c,
                          any ? h.end - h.first : 0, w.end - w.first, a.dilation_w * c, a.dilation_h * a.in_w * c, a.kernel_w * c},
           y);
      }
    }
}

}  // namespace deuteron
