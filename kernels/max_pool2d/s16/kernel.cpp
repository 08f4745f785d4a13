// SPDX-License-Identifier: Apache-2.0
// Portable int16 maximum pooling: every tap raises all channels of the output pixel, which begins
// at y_min; the upper bound comes last.
#include "kernels/max_pool2d/s16/kernel.h"

#include "kernels/max_pool2d/s16/places.h"

namespace deuteron {

void max_pool2d_s16(const MaxPool2dArgs& a, const int16_t* x, int16_t* y) {
  const auto low = static_cast<int16_t>(a.y_min), high = static_cast<int16_t>(a.y_max);
  const int32_t channels = a.channels, step = a.dilation_w * channels,
                row_step = a.dilation_h * a.in_w * channels;
  each_maximum_s16(a, x, y, [&](const MaximumPlace& p, int16_t* to) {
    for (int32_t c = 0; c < channels; ++c) to[c] = low;
    for (int32_t h = 0; h < p.rows; ++h)
      for (int32_t w = 0; w < p.columns; ++w) {
        const int16_t* from = p.first + h * row_step + w * step;
        for (int32_t c = 0; c < channels; ++c) to[c] = from[c] > to[c] ? from[c] : to[c];
      }
    for (int32_t c = 0; c < channels; ++c) to[c] = to[c] > high ? high : to[c];
  });
}

}  // namespace deuteron
