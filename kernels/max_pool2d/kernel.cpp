// SPDX-License-Identifier: Apache-2.0
// Portable maximum pooling: every tap raises all channels of the output pixel, which begins at
// y_min; the upper bound comes last.
#include "kernels/max_pool2d/kernel.h"

#include "kernels/common/host_clones.h"

#include <cstddef>
#include <cstring>

#include "kernels/image/window.h"

namespace deuteron {

DEUTERON_HOST_CLONES void max_pool2d_s8(const MaxPool2dArgs& a, const int8_t* x, int8_t* y) {
  const int8_t low = static_cast<int8_t>(a.y_min), high = static_cast<int8_t>(a.y_max);
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * a.in_w * a.channels)
    for (int32_t oh = 0; oh < a.out_h; ++oh) {
      const int32_t ih = oh * a.stride_h - a.pad_h;
      const Taps h = taps_inside(ih, a.kernel_h, a.dilation_h, a.in_h);
      for (int32_t ow = 0; ow < a.out_w; ++ow, y += a.channels) {
        const int32_t iw = ow * a.stride_w - a.pad_w;
        const Taps w = taps_inside(iw, a.kernel_w, a.dilation_w, a.in_w);
        std::memset(y, low, static_cast<size_t>(a.channels));
        for (int32_t kh = h.first; kh < h.end; ++kh)
          for (int32_t kw = w.first; kw < w.end; ++kw) {
            const int8_t* from =
                x + ((ih + kh * a.dilation_h) * a.in_w + iw + kw * a.dilation_w) * a.channels;
            for (int32_t c = 0; c < a.channels; ++c) y[c] = from[c] > y[c] ? from[c] : y[c];
          }
        if (high == 127) continue;
        for (int32_t c = 0; c < a.channels; ++c) y[c] = y[c] > high ? high : y[c];
      }
    }
}

}  // namespace deuteron
