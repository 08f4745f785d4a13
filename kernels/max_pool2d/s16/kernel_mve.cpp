// SPDX-License-Identifier: Apache-2.0
// int16 maximum pooling with the M-profile Vector Extension: 8 channels of an output pixel at a
// time.
#include <arm_mve.h>

#include "kernels/max_pool2d/s16/kernel.h"
#include "kernels/max_pool2d/s16/places.h"

namespace deuteron {

void max_pool2d_s16_mve(const MaxPool2dArgs& a, const int16_t* x, int16_t* y) {
  constexpr int32_t kLanes = 8;
  const int16x8_t low = vdupq_n_s16(static_cast<int16_t>(a.y_min)),
                  high = vdupq_n_s16(static_cast<int16_t>(a.y_max));
  const int32_t channels = a.channels, step = a.dilation_w * channels,
                row_step = a.dilation_h * a.in_w * channels;
  each_maximum_s16(a, x, y, [&](const MaximumPlace& p, int16_t* to) {
    for (int32_t c = 0; c < channels; c += kLanes) {
      const mve_pred16_t here = vctp16q(static_cast<uint32_t>(channels - c));
      int16x8_t most = low;
      const int16_t* row = p.first + c;
      for (int32_t h = p.rows; h > 0; --h, row += row_step) {
        const int16_t* from = row;
        for (int32_t w = p.columns; w > 0; --w, from += step)
          most = vmaxq_s16(most, vld1q_z_s16(from, here));
      }
      vst1q_p_s16(to + c, vminq_s16(most, high), here);
    }
  });
}

}  // namespace deuteron
