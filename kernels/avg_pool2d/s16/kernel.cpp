// SPDX-License-Identifier: Apache-2.0
// Portable int16 average pooling: the sums of a block of channels lie on the stack, and each tap
// adds to all of them.
#include "kernels/avg_pool2d/s16/kernel.h"

#include "kernels/avg_pool2d/s16/places.h"

namespace deuteron {

void avg_pool2d_s16(const AvgPool2dS16Args& a, const int16_t* x, int16_t* y) {
  constexpr int32_t kBlock = 64;
  each_average_s16(a, x, y, [&](const int16_t* first, int32_t taps_h, int32_t taps_w, int16_t* to) {
    const int32_t taps = taps_h * taps_w;
    int32_t sums[kBlock];
    for (int32_t c = 0; c < a.channels; c += kBlock) {
      const int32_t count = a.channels - c < kBlock ? a.channels - c : kBlock;
      for (int32_t i = 0; i < count; ++i) sums[i] = 0;
      for (int32_t h = 0; h < taps_h; ++h)
        for (int32_t w = 0; w < taps_w; ++w) {
          const int16_t* from = first + (h * a.in_w + w) * a.channels + c;
          for (int32_t i = 0; i < count; ++i) sums[i] += from[i];
        }
      for (int32_t i = 0; i < count; ++i) to[c + i] = average_s16(sums[i], taps);
    }
  });
}

}  // namespace deuteron
