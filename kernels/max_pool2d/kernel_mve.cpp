// SPDX-License-Identifier: Apache-2.0
// Maximum pooling with the M-profile Vector Extension: 16 channels of an output pixel at a time.
#include <arm_mve.h>

#include "kernels/image/window.h"
#include "kernels/max_pool2d/kernel.h"

namespace deuteron {

void max_pool2d_s8_mve(const MaxPool2dArgs& a, const int8_t* x, int8_t* y) {
  const int8x16_t low = vdupq_n_s8(static_cast<int8_t>(a.y_min)),
                  high = vdupq_n_s8(static_cast<int8_t>(a.y_max));
  const int32_t step = a.dilation_w * a.channels, row_step = a.dilation_h * a.in_w * a.channels;
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * a.in_w * a.channels)
    for (int32_t oh = 0; oh < a.out_h; ++oh) {
      const int32_t ih = oh * a.stride_h - a.pad_h;
      const Taps h = taps_inside(ih, a.kernel_h, a.dilation_h, a.in_h);
      for (int32_t ow = 0; ow < a.out_w; ++ow, y += a.channels) {
        const int32_t iw = ow * a.stride_w - a.pad_w;
        const Taps w = taps_inside(iw, a.kernel_w, a.dilation_w, a.in_w);
        const int8_t* first =
            x + ((ih + h.first * a.dilation_h) * a.in_w + iw + w.first * a.dilation_w) * a.channels;
        for (int32_t c = 0; c < a.channels; c += 16) {
          const mve_pred16_t here = vctp8q(static_cast<uint32_t>(a.channels - c));
          int8x16_t most = low;
          const int8_t* row = first + c;
          for (int32_t kh = h.first; kh < h.end; ++kh, row += row_step) {
            const int8_t* from = row;
            for (int32_t kw = w.end - w.first; kw > 0; --kw, from += step)
              most = vmaxq_s8(most, vld1q_z_s8(from, here));
          }
          vst1q_p_s8(y + c, vminq_s8(most, high), here);
        }
      }
    }
}

}  // namespace deuteron
