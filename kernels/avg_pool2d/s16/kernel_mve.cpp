// SPDX-License-Identifier: Apache-2.0
// int16 average pooling with the M-profile Vector Extension: the sums of four channels of a place
// at a time, divided one by one.
#include <arm_mve.h>

#include "kernels/avg_pool2d/s16/kernel.h"
#include "kernels/avg_pool2d/s16/places.h"

namespace deuteron {

void avg_pool2d_s16_mve(const AvgPool2dS16Args& a, const int16_t* x, int16_t* y) {
  constexpr int32_t kChannels = 4;
  each_average_s16(a, x, y, [&](const int16_t* first, int32_t taps_h, int32_t taps_w, int16_t* to) {
    const int32_t taps = taps_h * taps_w;
    for (int32_t c = 0; c < a.channels; c += kChannels) {
      const int32_t count = a.channels - c < kChannels ? a.channels - c : kChannels;
      const mve_pred16_t here = vctp32q(static_cast<uint32_t>(count));
      int32x4_t sums = vdupq_n_s32(0);
      for (int32_t h = 0; h < taps_h; ++h) {
        const int16_t* from = first + h * a.in_w * a.channels + c;
        for (int32_t w = taps_w; w > 0; --w, from += a.channels)
          sums = vaddq_s32(sums, vldrhq_z_s32(from, here));
      }
      int32_t of[kChannels];
      vst1q_s32(of, sums);
      for (int32_t i = 0; i < count; ++i) to[c + i] = average_s16(of[i], taps);
    }
  });
}

}  // namespace deuteron
