// SPDX-License-Identifier: Apache-2.0
// Maximum pooling by words of four channels, without vectors: up to 16 channels of an output pixel
// at a time.
#pragma once
#include "kernels/image/window.h"
#include "kernels/integer/extremes_words.h"
#include "kernels/integer/words.h"
#include "kernels/max_pool2d/kernel.h"

namespace deuteron {

inline constexpr int32_t kMaximumChannels = 4;  // of a word

// The taps of a window that lie inside, from the first one on.
struct MaximumTaps {
  const int8_t* first;
  int32_t h, w, row_step, step;
};

// So many words of channels of one output pixel, `c` channels behind the first.
template <int32_t words>
inline void maximum_of(const MaximumTaps& taps, int32_t c, uint32_t low, uint32_t high, int8_t* y) {
  uint32_t most[words];
#pragma GCC unroll 4
  for (uint32_t& m : most) m = low;
  const int8_t* row = taps.first + c;
  const int32_t step = taps.step;
  for (int32_t h = taps.h; h > 0; --h, row += taps.row_step) {
    const int8_t* from = row;
    for (int32_t w = taps.w; w > 0; --w, from += step)
#pragma GCC unroll 4
      for (int32_t k = 0; k < words; ++k)
        most[k] = larger_bytes(four_at(from + kMaximumChannels * k), most[k]);
  }
#pragma GCC unroll 4
  for (int32_t k = 0; k < words; ++k)
    put_four(y + c + kMaximumChannels * k, smaller_bytes(most[k], high));
}

inline int8_t maximum_of_channel(const MaximumTaps& taps, int32_t c, int32_t low, int32_t high) {
  int32_t most = low;
  const int8_t* row = taps.first + c;
  const int32_t step = taps.step;
  for (int32_t h = taps.h; h > 0; --h, row += taps.row_step) {
    const int8_t* from = row;
    for (int32_t w = taps.w; w > 0; --w, from += step)
      if (*from > most) most = *from;
  }
  return static_cast<int8_t>(most < high ? most : high);
}

// Channels go one by one where they are fewer than a word has, or words would not be aligned.
inline void max_pool2d_s8_words(const MaxPool2dArgs& a, const int8_t* x, int8_t* y) {
  const bool in_words = has_words(a.channels, x, y);
  constexpr int32_t kWords = 4;
  const uint32_t low = four_times(a.y_min), high = four_times(a.y_max);
  const int32_t step = a.dilation_w * a.channels, row_step = a.dilation_h * a.in_w * a.channels;
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * a.in_w * a.channels)
    for (int32_t oh = 0; oh < a.out_h; ++oh) {
      const int32_t ih = oh * a.stride_h - a.pad_h;
      const Taps h = taps_inside(ih, a.kernel_h, a.dilation_h, a.in_h);
      const int8_t* const row = x + ih * a.in_w * a.channels + h.first * row_step;
      for (int32_t ow = 0; ow < a.out_w; ++ow, y += a.channels) {
        const int32_t iw = ow * a.stride_w - a.pad_w;
        const Taps w = taps_inside(iw, a.kernel_w, a.dilation_w, a.in_w);
        const MaximumTaps taps{row + iw * a.channels + w.first * step, h.end - h.first,
                               w.end - w.first, row_step, step};
        int32_t c = in_words ? 0 : a.channels;
        for (; c + kWords * kMaximumChannels <= a.channels; c += kWords * kMaximumChannels)
          maximum_of<kWords>(taps, c, low, high, y);
        for (; c < a.channels; c += kMaximumChannels)  // the last ones overlap
          maximum_of<1>(taps, a.channels - c < kMaximumChannels ? a.channels - kMaximumChannels : c,
                        low, high, y);
        for (c = in_words ? a.channels : 0; c < a.channels; ++c)
          y[c] = maximum_of_channel(taps, c, a.y_min, a.y_max);
      }
    }
}

}  // namespace deuteron
