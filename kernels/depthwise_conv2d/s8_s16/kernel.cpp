// SPDX-License-Identifier: Apache-2.0
// Portable depthwise convolution of int8 with int16 results: four channels at a time.
#include "kernels/depthwise_conv2d/s8_s16/kernel.h"

#include "kernels/depthwise_conv2d/s16/pixels.h"
#include "kernels/integer/requantize.h"

namespace deuteron {

void depthwise_conv2d_s8_s16(const DepthwiseS8S16Args& a, const int8_t* x, const int16_t* weight,
                             const int32_t* first, const int32_t* multiplier, int16_t* y) {
  constexpr int32_t kMost = 4;
  const int32_t channels = a.layer.channels, zero = a.x_zero, low = a.layer.y_min,
                high = a.layer.y_max;
  const auto run = [&](const DepthwisePlaceOf<int8_t>& p, int32_t c, int32_t count, int16_t* to) {
    uint32_t sums[kMost] = {};
    const int8_t* row = p.x + c;
    const int16_t* taps = p.weight + c;
    for (int32_t h = 0; h < p.rows; ++h, row += p.x_row, taps += p.weight_row) {
      const int8_t* from = row;
      const int16_t* w = taps;
      for (int32_t k = p.columns; k > 0; --k, from += p.x_column, w += channels)
        for (int32_t i = 0; i < count; ++i)
          sums[i] += static_cast<uint32_t>((from[i] - zero) * w[i]);
    }
    for (int32_t i = 0; i < count; ++i) {
      const auto sum = static_cast<int32_t>(sums[i] + static_cast<uint32_t>(first[c + i]));
      to[c + i] = static_cast<int16_t>(clamp_to(multiply_high(sum, multiplier[c + i]), low, high));
    }
  };
  each_place(a.layer, x, weight, y, [&](const DepthwisePlaceOf<int8_t>& p, int16_t* to) {
    int32_t c = 0;
    for (; c + kMost <= channels; c += kMost) run(p, c, kMost, to);
    if (c < channels) run(p, c, channels - c, to);
  });
}

}  // namespace deuteron
