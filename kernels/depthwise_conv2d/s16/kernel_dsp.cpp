// SPDX-License-Identifier: Apache-2.0
// int16 depthwise convolution with the DSP extension: four channels at a time, two in a word.
#include <cstring>

#include "kernels/depthwise_conv2d/s16/kernel.h"
#include "kernels/depthwise_conv2d/s16/pixels.h"
#include "kernels/integer/requantize.h"

namespace deuteron {
namespace {

inline uint32_t word_at(const int16_t* p) {
  uint32_t v;
  std::memcpy(&v, p, 4);
  return v;
}
// sum + product of the low halfwords, of the high ones; modulo 2^32.
inline int32_t add_low(uint32_t x, uint32_t w, int32_t sum) {
  asm("smlabb %0, %1, %2, %0" : "+r"(sum) : "r"(x), "r"(w));
  return sum;
}
inline int32_t add_high(uint32_t x, uint32_t w, int32_t sum) {
  asm("smlatt %0, %1, %2, %0" : "+r"(sum) : "r"(x), "r"(w));
  return sum;
}

}  // namespace

void depthwise_conv2d_s16_dsp(const DepthwiseS16Args& a, const int16_t* x, const int16_t* weight,
                              const int32_t* first, const int32_t* multiplier, int16_t* y) {
  const int32_t channels = a.channels, low = a.y_min, high = a.y_max;
  const auto finish = [&](int32_t sum, int32_t c) {
    return static_cast<int16_t>(clamp_to(multiply_high(sum, multiplier[c]), low, high));
  };
  each_place(a, x, weight, y, [&](const DepthwisePlace& p, int16_t* to) {
    int32_t c = 0;
    for (; c + 4 <= channels; c += 4) {
      int32_t s0 = first[c], s1 = first[c + 1], s2 = first[c + 2], s3 = first[c + 3];
      const int16_t *row = p.x + c, *taps = p.weight + c;
      for (int32_t h = p.rows; h > 0; --h, row += p.x_row, taps += p.weight_row) {
        const int16_t *from = row, *w = taps;
        for (int32_t k = p.columns; k > 0; --k, from += p.x_column, w += channels) {
          const uint32_t x01 = word_at(from), w01 = word_at(w), x23 = word_at(from + 2),
                         w23 = word_at(w + 2);
          s0 = add_low(x01, w01, s0), s1 = add_high(x01, w01, s1);
          s2 = add_low(x23, w23, s2), s3 = add_high(x23, w23, s3);
        }
      }
      to[c] = finish(s0, c), to[c + 1] = finish(s1, c + 1), to[c + 2] = finish(s2, c + 2),
      to[c + 3] = finish(s3, c + 3);
    }
    for (; c < channels; ++c) {
      uint32_t sum = static_cast<uint32_t>(first[c]);
      for (int32_t h = 0; h < p.rows; ++h)
        for (int32_t k = 0; k < p.columns; ++k)
          sum += static_cast<uint32_t>(p.x[h * p.x_row + k * p.x_column + c] *
                                       p.weight[h * p.weight_row + k * channels + c]);
      to[c] = finish(static_cast<int32_t>(sum), c);
    }
  });
}

}  // namespace deuteron
