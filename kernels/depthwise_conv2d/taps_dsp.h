// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution of any window with the DSP extension: four output channels of a pixel at a
// time, a tap after the other.
#pragma once
#include <arm_acle.h>

#include <cstring>

#include "kernels/depthwise_conv2d/kernel.h"
#include "kernels/image/window.h"
#include "kernels/integer/requantize.h"
#include "kernels/integer/requantize_words.h"

namespace deuteron {

inline constexpr int32_t kTapChannels = 4;

// clamp(y_zero + requantize(sum)), whatever there is. A function by itself: few layers need it.
[[gnu::noinline]] inline int8_t finish_any_sum(const DepthwiseConv2dArgs& a, int32_t c,
                                               int32_t sum) {
  return requantize_to_s8(static_cast<uint32_t>(sum), a.multiplier[c], a.shift[c], a.y_zero,
                          a.y_min, a.y_max);
}

// The same. A small multiplier may be doubled, whatever the sum is; one that is not negative has no
// product of INT32_MIN.
inline int8_t finish_sum(const DepthwiseConv2dArgs& a, int32_t c, int32_t sum) {
  const int32_t m = a.multiplier[c], s = a.shift[c];
  int32_t v;
  if (s == 0 && m >= 0 && m < 1 << 30) v = multiply_high_rounded(sum, 2 * m);
  else if (s < 0 && m >= 0) v = shift_right_rounded(multiply_high(sum, m), -s);
  else return finish_any_sum(a, c, sum);
  return static_cast<int8_t>(clamp_to(add_wrapping(v, a.y_zero), a.y_min, a.y_max));
}

// The sums of four output channels. from: the input at the first tap inside; x_at: where each of
// the four reads, from there.
template <bool own_channels>
void add_taps(const DepthwiseConv2dArgs& a, const int8_t* from, const int8_t* w, const Taps& h,
              const Taps& v, uint32_t offset, const int32_t (&x_at)[kTapChannels],
              int32_t (&sums)[kTapChannels]) {
  const int32_t step = a.dilation_w * a.in_c, row_step = a.dilation_h * a.in_w * a.in_c,
                taps = v.end - v.first;
  int32_t s0 = sums[0], s1 = sums[1], s2 = sums[2], s3 = sums[3];
  for (int32_t kh = h.first; kh < h.end; ++kh, from += row_step, w += a.kernel_w * a.out_c) {
    const int8_t *at = from, *filter = w;
    for (int32_t kw = taps; kw > 0; --kw, at += step, filter += a.out_c) {
      uint32_t word, weights;
      std::memcpy(&weights, filter, sizeof weights);
      if (own_channels) std::memcpy(&word, at, sizeof word);
      else
        word = static_cast<uint8_t>(at[x_at[0]]) |
               static_cast<uint32_t>(static_cast<uint8_t>(at[x_at[1]])) << 8 |
               static_cast<uint32_t>(static_cast<uint8_t>(at[x_at[2]])) << 16 |
               static_cast<uint32_t>(static_cast<uint8_t>(at[x_at[3]])) << 24;
      int32_t even, odd, we, wo;  // bytes 0 and 2, 1 and 3
      asm("sxtab16 %0, %1, %2" : "=r"(even) : "r"(offset), "r"(word));
      asm("sxtab16 %0, %1, %2, ror #8" : "=r"(odd) : "r"(offset), "r"(word));
      asm("sxtb16 %0, %1" : "=r"(we) : "r"(weights));
      asm("sxtb16 %0, %1, ror #8" : "=r"(wo) : "r"(weights));
      s0 = __smlabb(even, we, s0), s1 = __smlabb(odd, wo, s1), s2 = __smlatt(even, we, s2),
      s3 = __smlatt(odd, wo, s3);
    }
  }
  sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3;
}

// All of an image. x_offset is int8's.
inline void run_taps(const DepthwiseConv2dArgs& a, const int8_t* x, const int8_t* weight,
                     const int32_t* bias, int8_t* y) {
  const bool own_channels = a.depth_multiplier == 1;
  const uint32_t half = static_cast<uint32_t>(a.x_offset) & 0xffff, offset = half << 16 | half;
  for (int32_t oh = 0; oh < a.out_h; ++oh) {
    const int32_t ih = oh * a.stride_h - a.pad_h;
    const Taps h = taps_inside(ih, a.kernel_h, a.dilation_h, a.in_h);
    for (int32_t ow = 0; ow < a.out_w; ++ow, y += a.out_c) {
      const int32_t iw = ow * a.stride_w - a.pad_w;
      const Taps w = taps_inside(iw, a.kernel_w, a.dilation_w, a.in_w);
      const int8_t* from =
          x + ((ih + h.first * a.dilation_h) * a.in_w + iw + w.first * a.dilation_w) * a.in_c;
      const int8_t* filters = weight + (h.first * a.kernel_w + w.first) * a.out_c;
      const Taps inside = w.first < w.end ? h : Taps{0, 0};
      for (int32_t done = 0; done < a.out_c; done += kTapChannels) {
        // the last ones overlap
        const int32_t c = a.out_c - done < kTapChannels ? a.out_c - kTapChannels : done;
        int32_t sums[kTapChannels], x_at[kTapChannels] = {};
        for (int32_t i = 0; i < kTapChannels; ++i) sums[i] = bias ? bias[c + i] : 0;
        if (own_channels) add_taps<true>(a, from + c, filters + c, inside, w, offset, x_at, sums);
        else {
          for (int32_t i = 0; i < kTapChannels; ++i) x_at[i] = (c + i) / a.depth_multiplier;
          add_taps<false>(a, from, filters + c, inside, w, offset, x_at, sums);
        }
#pragma GCC unroll 1
        for (int32_t i = 0; i < kTapChannels; ++i) y[c + i] = finish_sum(a, c + i, sums[i]);
      }
    }
  }
}

}  // namespace deuteron
