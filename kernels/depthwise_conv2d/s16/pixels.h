// SPDX-License-Identifier: Apache-2.0
// The places of an int16 depthwise convolution: what each result sees of the image.
#pragma once
#include "kernels/depthwise_conv2d/s16/kernel.h"
#include "kernels/image/window.h"

namespace deuteron {

// The taps of one place that lie inside: `rows` rows of `columns` columns, none where they are
// padding all.
template <class X>
struct DepthwisePlaceOf {
  const X* x;
  const int16_t* weight;  // of the first tap, as x
  int32_t rows, columns;
  int32_t x_column, x_row,
      weight_row;  // elements from a tap to the next, from a row's first tap to the next row's
};
using DepthwisePlace = DepthwisePlaceOf<int16_t>;

// Calls edge(place, y) for each place with columns outside, and run(place, count, y) for neighbours
// without: the first of `count` in a row, each stride_w columns of x behind the one before.
template <class X, class Edge, class Run>
void each_run(const DepthwiseS16Args& a, const X* x, const int16_t* weight, int16_t* y, Edge edge,
              Run run) {
  const int32_t c = a.channels,
                last =
                    a.in_w - 1 -
                    (a.kernel_w - 1) * a.dilation_w;  // where a window is inside, column by column
  const int32_t x_column = a.dilation_w * c, x_row = a.dilation_h * a.in_w * c,
                weight_row = a.kernel_w * c;
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * a.in_w * c)
    for (int32_t oh = 0; oh < a.out_h; ++oh) {
      const int32_t ih = oh * a.stride_h - a.pad_h;
      const Taps h = taps_inside(ih, a.kernel_h, a.dilation_h, a.in_h);
      const int32_t rows = h.end - h.first;
      const X* const row = x + (rows > 0 ? ih + h.first * a.dilation_h : 0) * a.in_w * c;
      const int16_t* const filter = weight + (rows > 0 ? h.first * weight_row : 0);
      int32_t count = 1;
      for (int32_t ow = 0, iw = -a.pad_w; ow < a.out_w;
           ow += count, y += count * c, iw += count * a.stride_w) {
        count = 1;
        if (iw >= 0 && iw <= last) {
          const int32_t inside = (last - iw) / a.stride_w + 1, left = a.out_w - ow;
          count = inside < left ? inside : left;
          run(DepthwisePlaceOf<X>{row + iw * c, filter, rows, a.kernel_w, x_column, x_row,
                                  weight_row},
              count, y);
          continue;
        }
        const Taps w = taps_inside(iw, a.kernel_w, a.dilation_w, a.in_w);
        const int32_t columns = w.end - w.first;
        const int32_t first = columns > 0 ? w.first : 0,
                      column = columns > 0 ? iw + w.first * a.dilation_w : 0;
        edge(DepthwisePlaceOf<X>{row + column * c, filter + first * c, rows, columns, x_column,
                                 x_row, weight_row},
             y);
      }
    }
}

// Calls at(place, y) for each place.
template <class X, class At>
void each_place(const DepthwiseS16Args& a, const X* x, const int16_t* weight, int16_t* y, At at) {
  each_run(a, x, weight, y, at, [&](DepthwisePlaceOf<X> p, int32_t count, int16_t* to) {
    for (; count > 0; --count, p.x += a.stride_w * a.channels, to += a.channels) at(p, to);
  });
}

}  // namespace deuteron
