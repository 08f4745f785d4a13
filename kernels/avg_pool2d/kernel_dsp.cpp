// SPDX-License-Identifier: Apache-2.0
// Average pooling with the DSP extension.
#include "kernels/avg_pool2d/words.h"
#include "kernels/integer/sums_dsp.h"

namespace deuteron {

void avg_pool2d_s8_dsp(const AvgPool2dArgs& a, const int8_t* x, int8_t* y) {
  if (a.channels < kSumNeighbours) return avg_pool2d_s8(a, x, y);
  avg_pool2d_s8_words(
      a, x, y, [&](const int8_t* first, int32_t taps_h, int32_t taps_w, int8_t* to) {
        const int32_t taps = taps_h * taps_w, half = taps / 2, begin = -a.base * taps;
        int32_t sums[kSumNeighbours] = {begin, begin, begin, begin};
        for (int32_t h = 0; h < taps_h; ++h)
          add_rows_dsp(first + h * a.in_w * a.channels, taps_w, a.channels, sums);
        for (const int32_t sum : sums)
          *to++ = static_cast<int8_t>((sum > 0 ? sum + half : sum - half) / taps + a.base);
      });
}

}  // namespace deuteron
