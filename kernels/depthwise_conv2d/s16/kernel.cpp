// SPDX-License-Identifier: Apache-2.0
// Portable int16 depthwise convolution: two neighbouring channels at a time.
#include "kernels/depthwise_conv2d/s16/kernel.h"

#include "kernels/depthwise_conv2d/s16/pixels.h"
#include "kernels/integer/requantize.h"

namespace deuteron {

void depthwise_conv2d_s16(const DepthwiseS16Args& a, const int16_t* x, const int16_t* weight,
                          const int32_t* first, const int32_t* multiplier, int16_t* y) {
  const auto finish = [&](uint32_t sum, int32_t c) {
    return static_cast<int16_t>(
        clamp_to(multiply_high(static_cast<int32_t>(sum), multiplier[c]), a.y_min, a.y_max));
  };
  each_place(a, x, weight, y, [&](const DepthwisePlace& p, int16_t* to) {
    int32_t c = 0;
    for (; c + 2 <= a.channels; c += 2) {
      uint32_t s0 = static_cast<uint32_t>(first[c]), s1 = static_cast<uint32_t>(first[c + 1]);
      const int16_t *row = p.x + c, *taps = p.weight + c;
      for (int32_t h = 0; h < p.rows; ++h, row += p.x_row, taps += p.weight_row) {
        const int16_t *from = row, *w = taps;
        for (int32_t k = p.columns; k > 0; --k, from += p.x_column, w += a.channels) {
          s0 += static_cast<uint32_t>(from[0] * w[0]);
          s1 += static_cast<uint32_t>(from[1] * w[1]);
        }
      }
      to[c] = finish(s0, c), to[c + 1] = finish(s1, c + 1);
    }
    for (; c < a.channels; ++c) {
      uint32_t sum = static_cast<uint32_t>(first[c]);
      for (int32_t h = 0; h < p.rows; ++h)
        for (int32_t k = 0; k < p.columns; ++k)
          sum += static_cast<uint32_t>(p.x[h * p.x_row + k * p.x_column + c] *
                                       p.weight[h * p.weight_row + k * a.channels + c]);
      to[c] = finish(sum, c);
    }
  });
}

}  // namespace deuteron
