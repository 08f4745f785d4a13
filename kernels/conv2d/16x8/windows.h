// SPDX-License-Identifier: Apache-2.0
// A convolution of int16 by int8 window by window: what its kernels have in common.
#pragma once
#include "kernels/conv2d/16x8/kernel.h"
#include "kernels/image/window.h"
#include "kernels/integer/products_16x8.h"
#include "kernels/integer/sum_16x8.h"

namespace deuteron {

// The taps of a window that lie inside of the image: `rows` rows of `columns`, none where all are
// padding.
struct Window16x8 {
  const int16_t* x;  // the first tap
  int32_t weight;    // elements from a filter's begin to it
  int32_t rows, columns;
};

// Calls at(window, y) for each place in turn.
template <class At>
void each_window_16x8(const Conv2d16x8Args& a, const int16_t* x, int16_t* y, At at) {
  const int32_t row = a.in_w * a.in_c, filter_row = a.kernel_w * a.kernel_c;
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * row)
    for (int32_t oh = 0; oh < a.out_h; ++oh) {
      const int32_t top = oh * a.stride_h - a.pad_h;
      const Taps rows = taps_inside(top, a.kernel_h, a.dilation_h, a.in_h);
      for (int32_t ow = 0; ow < a.out_w; ++ow, y += a.out_c) {
        const int32_t left = ow * a.stride_w - a.pad_w;
        const Taps columns = taps_inside(left, a.kernel_w, a.dilation_w, a.in_w);
        Window16x8 w{x, 0, rows.end - rows.first, columns.end - columns.first};
        if (w.rows > 0 && w.columns > 0) {
          w.x += (top + rows.first * a.dilation_h) * row +
                 (left + columns.first * a.dilation_w) * a.in_c;
          w.weight = rows.first * filter_row + columns.first * a.kernel_c;
        } else {
          w.rows = 0;
        }
        at(w, y);
      }
    }
}

// Calls finish(oc, sum) for each result in turn and stores what it gives. Taps of one row that lie
// side by side in x are one run of products. Products: Products16x8, or what an instruction set has
// in its place.
template <class Products, class Finish>
void filters_16x8(const Conv2d16x8Args& a, const Window16x8& window, const int8_t* weight,
                  int16_t* y, Finish finish) {
  const int32_t x_row = a.dilation_h * a.in_w * a.in_c, filter_row = a.kernel_w * a.kernel_c,
                filter = a.kernel_h * filter_row;
  const int32_t groups = a.in_c / a.kernel_c, filters = a.out_c / groups;
  const bool together = groups == 1 && a.dilation_w == 1;
  const int8_t* taps = weight + window.weight;
  for (int32_t oc = 0, g = 0; g < groups; ++g)
    for (int32_t left = filters; left > 0; left -= 2) {
      const int32_t step = left > 1 ? filter : 0;
      const int16_t* from = window.x + g * a.kernel_c;
      const int8_t* by = taps + oc * filter;
      Products products;
      for (int32_t r = window.rows; r > 0; --r, from += x_row, by += filter_row) {
        if (together) {
          products.add(from, by, step, window.columns * a.kernel_c);
          continue;
        }
        for (int32_t k = 0; k < window.columns; ++k)
          products.add(from + k * a.dilation_w * a.in_c, by + k * a.kernel_c, step, a.kernel_c);
      }
      for (int32_t k = 0; k < (left > 1 ? 2 : 1); ++k, ++oc)
        y[oc] = static_cast<int16_t>(clamp_to(finish(oc, products.total(k)), a.y_min, a.y_max));
    }
}

// One channel of x a filter, and no more taps than 32 bits can sum: no call and no 64 bits for each
// of them.
inline bool is_depthwise_16x8(const Conv2d16x8Args& a) {
  return a.kernel_c == 1 && a.in_c > 1 && a.kernel_h <= kMostProducts16x8 &&
         a.kernel_w <= kMostProducts16x8 && a.kernel_h * a.kernel_w <= kMostProducts16x8;
}
template <class Finish>
void channels_16x8(const Conv2d16x8Args& a, const Window16x8& window, const int8_t* weight,
                   int32_t first, int16_t* y, Finish finish) {
  const int32_t x_row = a.dilation_h * a.in_w * a.in_c, x_step = a.dilation_w * a.in_c,
                filter = a.kernel_h * a.kernel_w;
  const int32_t filters = a.out_c / a.in_c;
  const int8_t* taps = weight + window.weight + first * filter;
  int32_t left = filters, channel = first / filters;
  for (int32_t oc = first; oc < a.out_c; ++oc, taps += filter) {
    const int16_t* row = window.x + channel;
    const int8_t* by = taps;
    int32_t sum = 0;
    for (int32_t r = window.rows; r > 0; --r, row += x_row, by += a.kernel_w) {
      const int16_t* from = row;
      if (window.columns == 3) {  // most windows of most networks
        sum += from[0] * by[0] + from[x_step] * by[1] + from[2 * x_step] * by[2];
        continue;
      }
      for (int32_t k = 0; k < window.columns; ++k, from += x_step) sum += *from * by[k];
    }
    y[oc] = static_cast<int16_t>(clamp_to(finish(oc, sum), a.y_min, a.y_max));
    if (--left == 0) left = filters, ++channel;
  }
}

// The convolution with these products; depthwise ones channel by channel.
template <class Products, class Finish>
void conv2d_16x8_with(const Conv2d16x8Args& args, const int16_t* x, const int8_t* weight,
                      int16_t* y, Finish finish) {
  const Conv2d16x8Args a = args;  // for all the compiler knows, y might lie over the arguments
  const bool depthwise = is_depthwise_16x8(a);
  each_window_16x8(a, x, y, [&](const Window16x8& w, int16_t* to) {
    if (depthwise) channels_16x8(a, w, weight, 0, to, finish);
    else filters_16x8<Products>(a, w, weight, to, finish);
  });
}

}  // namespace deuteron
