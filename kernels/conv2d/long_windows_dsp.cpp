// SPDX-License-Identifier: Apache-2.0
#include "kernels/conv2d/long_windows_dsp.h"

#include <cstring>

#include "kernels/conv2d/long_dsp.h"
#include "kernels/dense/dot_dsp.h"
#include "kernels/image/window.h"
#include "kernels/integer/requantize.h"

namespace deuteron {
namespace {

// Adds the products of `count` elements to the sums of four filters, which lie `stride` apart.
void add_long_products(const int8_t* x, int32_t count, uint32_t offset, const int8_t* weight,
                       int32_t stride, int32_t (&sums)[kFiltersOfLong]) {
  const int32_t quads = count / kDspQuad;
  if (quads > 0) deuteron_add_long_dsp(x, quads, offset, weight, stride, sums);
  for (int32_t i = quads * kDspQuad; i < count; ++i)
    for (int32_t f = 0; f < kFiltersOfLong; ++f)
      sums[f] =
          add_wrapping(sums[f], (x[i] + static_cast<int16_t>(offset)) * weight[f * stride + i]);
}

struct LongPlace {
  const int8_t* image;  // at the first channel of the group
  int32_t ih, iw;
  Taps h, w;
};
// The sums of four filters at one place. Taps outside x add nothing.
void sum_long_window(const Conv2dArgs& a, const LongPlace& at, uint32_t offset,
                     const int8_t* weight, int32_t stride, int32_t (&sums)[kFiltersOfLong]) {
  const bool rows_lie_together = a.kernel_c == a.in_c && a.dilation_w == 1;
  const int32_t inside = at.w.end - at.w.first;
  const int32_t pieces = rows_lie_together ? 1 : inside,
                length = rows_lie_together ? inside * a.kernel_c : a.kernel_c;
  for (int32_t kh = at.h.first; kh < at.h.end; ++kh) {
    const int8_t* x =
        at.image +
        ((at.ih + kh * a.dilation_h) * a.in_w + at.iw + at.w.first * a.dilation_w) * a.in_c;
    const int8_t* w = weight + (kh * a.kernel_w + at.w.first) * a.kernel_c;
    for (int32_t k = 0; k < pieces; ++k, x += a.dilation_w * a.in_c, w += length)
      add_long_products(x, length, offset, w, stride, sums);
  }
}

// All filters of a group: four at a time, where the last ones overlap their neighbours, or one at a
// time where there are fewer.
void run_long_filters(const Conv2dArgs& a, const LongPlace& at, uint32_t offset, int32_t first,
                      int32_t filters, const int8_t* weight, const int32_t* bias, int8_t* y) {
  const int32_t length = a.kernel_h * a.kernel_w * a.kernel_c,
                tile = filters < kFiltersOfLong ? 1 : kFiltersOfLong;
  for (int32_t f = 0; f < filters; f += tile) {
    const int32_t oc = first + (f < filters - tile ? f : filters - tile);
    int32_t sums[kFiltersOfLong] = {};
    if (bias) std::memcpy(sums, bias + oc, sizeof(int32_t) * static_cast<size_t>(tile));
    sum_long_window(a, at, offset, weight + oc * length, tile == 1 ? 0 : length, sums);
    for (int32_t i = 0; i < tile; ++i) {
      const int32_t v =
          add_wrapping(requantize(sums[i], a.multiplier[oc + i], a.shift[oc + i]), a.y_zero);
      y[oc + i] = static_cast<int8_t>(clamp_to(v, a.y_min, a.y_max));
    }
  }
}

}  // namespace

void run_long_windows(const Conv2dArgs& a, const int8_t* x, const int8_t* weight,
                      const int32_t* bias, int8_t* y) {
  const uint32_t low = static_cast<uint32_t>(a.x_offset) & 0xffff;
  const int32_t groups = a.in_c / a.kernel_c, filters = a.out_c / groups;
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * a.in_w * a.in_c)
    for (int32_t oh = 0; oh < a.out_h; ++oh)
      for (int32_t ow = 0; ow < a.out_w; ++ow, y += a.out_c) {
        LongPlace at{x, oh * a.stride_h - a.pad_h, ow * a.stride_w - a.pad_w, {}, {}};
        at.h = taps_inside(at.ih, a.kernel_h, a.dilation_h, a.in_h),
        at.w = taps_inside(at.iw, a.kernel_w, a.dilation_w, a.in_w);
        for (int32_t g = 0; g < groups; ++g, at.image += a.kernel_c)
          run_long_filters(a, at, low << 16 | low, g * filters, filters, weight, bias, y);
      }
}

}  // namespace deuteron
