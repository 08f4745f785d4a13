// SPDX-License-Identifier: Apache-2.0
// The pooling of kernel.h, slow and obvious: every tap tested. Host only, for tests.
#pragma once
#include "kernels/max_pool2d/s16/kernel.h"

namespace deuteron {

inline void max_pool2d_s16_reference(const MaxPool2dArgs& a, const int16_t* x, int16_t* y) {
  for (int32_t n = 0; n < a.n; ++n)
    for (int32_t oh = 0; oh < a.out_h; ++oh)
      for (int32_t ow = 0; ow < a.out_w; ++ow)
        for (int32_t c = 0; c < a.channels; ++c) {
          int32_t most = a.y_min;
          for (int32_t kh = 0; kh < a.kernel_h; ++kh)
            for (int32_t kw = 0; kw < a.kernel_w; ++kw) {
              const int32_t ih = oh * a.stride_h - a.pad_h + kh * a.dilation_h,
                            iw = ow * a.stride_w - a.pad_w + kw * a.dilation_w;
              if (ih < 0 || ih >= a.in_h || iw < 0 || iw >= a.in_w) continue;
              const int32_t v = x[((n * a.in_h + ih) * a.in_w + iw) * a.channels + c];
              most = v > most ? v : most;
            }
          y[((n * a.out_h + oh) * a.out_w + ow) * a.channels + c] =
              static_cast<int16_t>(most < a.y_max ? most : a.y_max);
        }
}

}  // namespace deuteron
