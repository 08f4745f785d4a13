// SPDX-License-Identifier: Apache-2.0
// The windows of a convolution on weights packed as mve_4x16, one at a time: where they lie in x,
// or gathered in scratch.
#pragma once
#include <cstring>

#include "kernels/conv2d/s8_s16/kernel.h"
#include "kernels/image/window.h"
#include "kernels/integer/requantize.h"

namespace deuteron {

// The columns of taps of the window that begins at row ih, column iw of the image, which may lie
// outside.
inline void fill_window(const PackedConv2dArgs& a, const int8_t* image, int32_t ih, int32_t iw,
                        int8_t* to) {
  const auto count = static_cast<size_t>(a.in_c);
  for (int32_t kw = 0; kw < a.kernel_w; ++kw)
    for (int32_t kh = 0; kh < a.kernel_h; ++kh, to += a.in_c) {
      const int32_t h = ih + kh * a.dilation_h, w = iw + kw * a.dilation_w;
      if (h < 0 || h >= a.in_h || w < 0 || w >= a.in_w) std::memset(to, a.x_zero, count);
      else std::memcpy(to, image + (h * a.in_w + w) * a.in_c, count);
    }
}

// Calls run(x, y) for each window.
template <class Run>
void each_window(const PackedConv2dArgs& a, const int8_t* x, void* scratch, int16_t* y, Run run) {
  const bool in_place = packed_conv2d_is_in_one_piece<int32_t>(a);
  auto* const window = static_cast<int8_t*>(scratch);
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * a.in_w * a.in_c)
    for (int32_t oh = 0; oh < a.out_h; ++oh)
      for (int32_t ow = 0; ow < a.out_w; ++ow, y += a.out_c) {
        const int32_t ih = oh * a.stride_h - a.pad_h, iw = ow * a.stride_w - a.pad_w;
        if (!in_place) fill_window(a, x, ih, iw, window);
        run(in_place ? x + (ih * a.in_w + iw) * a.in_c : window, y);
      }
}

// `numbers`: first[4], multiplier[4] of the tile.
inline void finish_tile(const Conv2dS8S16Args& a, const uint32_t (&sums)[kPackedTile],
                        const int8_t* numbers, int32_t count, int16_t* y) {
  for (int32_t i = 0; i < count; ++i) {
    const uint32_t sum = (sums[i] + static_cast<uint32_t>(packed_int(numbers + i * 4))) << a.shift;
    const int32_t multiplier = packed_int(numbers + (kPackedTile + i) * 4);
    y[i] = static_cast<int16_t>(
        clamp_to(multiply_high(static_cast<int32_t>(sum), multiplier), a.y_min, a.y_max));
  }
}

}  // namespace deuteron
