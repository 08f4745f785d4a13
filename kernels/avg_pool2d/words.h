// SPDX-License-Identifier: Apache-2.0
// Average pooling without vectors: the sums of 8 channels of an output pixel at a time, two in a
// word. They are divided by a product with the reciprocal of the window's taps.
#pragma once
#include "kernels/avg_pool2d/kernel.h"
#include "kernels/image/window.h"
#include "kernels/integer/words.h"

namespace deuteron {

inline constexpr int32_t kAverageChannels = 8;  // at a time

// Where the taps of a window are at most this many, n * reciprocal >> 23 is floor(n / taps) for
// each n up to 256 * taps: 256 * taps^2 is below 2^23, and n * reciprocal below 2^32.
inline constexpr int32_t kMostAverageTaps = 181, kReciprocalBits = 23;

// `first` and the sum of what add_four() adds for each tap is n, which becomes y + 128. Up to
// last_to_lose, a mean of zero or below, n loses one where taps are even, so that halves go away
// from zero.
struct Average {
  int32_t taps_h, taps_w;
  uint32_t first, reciprocal;
  int32_t last_to_lose;
};
inline uint32_t averaged(const Average& average, uint32_t n) {
  if (static_cast<int32_t>(n) <= average.last_to_lose) --n;
  return n * average.reciprocal >> kReciprocalBits;
}

// Sums of bytes 0 and 2 and of bytes 1 and 3, in halves.
struct HalfSums {
  uint32_t even, odd;
};
#if defined(DEUTERON_DSP)
inline constexpr bool kAddsSigned = true;  // add_four() adds x, else x + 128
inline void add_four(HalfSums& sums, uint32_t word) {
  asm("sxtab16 %0, %0, %1" : "+r"(sums.even) : "r"(word));
  asm("sxtab16 %0, %0, %1, ror #8" : "+r"(sums.odd) : "r"(word));
}
#else
inline constexpr bool kAddsSigned = false;
inline void add_four(HalfSums& sums, uint32_t word) {
  constexpr uint32_t kEven = 0x00ff00ffu;
  const uint32_t raised = word ^ 0x80808080u;
  sums.even += raised & kEven;
  sums.odd += raised >> 8 & kEven;
}
#endif

inline Average average_over(const AvgPool2dArgs& a, int32_t taps_h, int32_t taps_w) {
  const int32_t taps = taps_h * taps_w, zero = 128 * taps + taps / 2;
  return {taps_h, taps_w, static_cast<uint32_t>(kAddsSigned ? zero : taps / 2),
          static_cast<uint32_t>((1 << kReciprocalBits) / taps + 1),
          a.base == 0 && taps % 2 == 0 ? zero : -1};
}

// 8 channels of one output pixel; `row`: the first tap inside.
[[gnu::noinline]] inline void average_of(const Average& average, const int8_t* row,
                                         int32_t row_step, int32_t step, int8_t* y) {
  HalfSums sums[2];
#pragma GCC unroll 2
  for (HalfSums& s : sums) s.even = s.odd = average.first * 0x10001u;
  for (int32_t h = average.taps_h; h > 0; --h, row += row_step) {
    const int8_t* from = row;
    for (int32_t w = average.taps_w; w > 0; --w, from += step)
      add_four(sums[0], four_at(from)), add_four(sums[1], four_at(from + 4));
  }
#pragma GCC unroll 2
  for (int32_t k = 0; k < 2; ++k) {
    const HalfSums& s = sums[k];
    const uint32_t one = averaged(average, s.even & 0xffff),
                   two = averaged(average, s.odd & 0xffff);
    const uint32_t three = averaged(average, s.even >> 16), four = averaged(average, s.odd >> 16);
    put_four(y + 4 * k, (one | two << 8 | three << 16 | four << 24) ^ 0x80808080u);
  }
}

// `others(first, taps_h, taps_w, y)`: four channels of a pixel that has fewer than 8, or of more
// taps than kMostAverageTaps. Limits   channels >= 4
template <class Others>
inline void avg_pool2d_s8_words(const AvgPool2dArgs& a, const int8_t* x, int8_t* y,
                                const Others& others) {
  const int32_t channels = a.channels, row_step = a.in_w * channels;
  Average average{};
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * row_step)
    for (int32_t oh = 0; oh < a.out_h; ++oh) {
      const int32_t ih = oh * a.stride_h - a.pad_h;
      const Taps h = taps_inside(ih, a.kernel_h, 1, a.in_h);
      const int32_t taps_h = h.end - h.first;
      for (int32_t ow = 0; ow < a.out_w; ++ow, y += channels) {
        const int32_t iw = ow * a.stride_w - a.pad_w;
        const Taps w = taps_inside(iw, a.kernel_w, 1, a.in_w);
        const int32_t taps_w = w.end - w.first;
        const int8_t* first = x + ((ih + h.first) * a.in_w + iw + w.first) * channels;
        const bool by_eight = channels >= kAverageChannels && taps_h * taps_w <= kMostAverageTaps;
        if (by_eight && (average.taps_w != taps_w || average.taps_h != taps_h))
          average = average_over(a, taps_h, taps_w);
        const int32_t step = by_eight ? kAverageChannels : 4;
        for (int32_t c = 0; c < channels; c += step) {
          const int32_t at = channels - c < step ? channels - step : c;  // the last ones overlap
          if (by_eight) average_of(average, first + at, row_step, channels, y + at);
          else others(first + at, taps_h, taps_w, y + at);
        }
      }
    }
}

}  // namespace deuteron
