// SPDX-License-Identifier: Apache-2.0
// The maximum of kernel.h, slow and obvious. Host only, for tests.
#pragma once
#include <algorithm>

#include "kernels/max_pool2d/kernel.h"

namespace deuteron {

inline void max_pool2d_reference(const MaxPool2dArgs& a, const int8_t* x, int8_t* y) {
  for (int64_t n = 0; n < a.n; ++n)
    for (int64_t oh = 0; oh < a.out_h; ++oh)
      for (int64_t ow = 0; ow < a.out_w; ++ow)
        for (int64_t c = 0; c < a.channels; ++c) {
          int64_t most = INT64_MIN;
          for (int64_t kh = 0; kh < a.kernel_h; ++kh)
            for (int64_t kw = 0; kw < a.kernel_w; ++kw) {
              const int64_t ih = oh * a.stride_h - a.pad_h + kh * a.dilation_h,
                            iw = ow * a.stride_w - a.pad_w + kw * a.dilation_w;
              if (ih < 0 || ih >= a.in_h || iw < 0 || iw >= a.in_w) continue;
              most = std::max<int64_t>(most, x[((n * a.in_h + ih) * a.in_w + iw) * a.channels + c]);
            }
          y[((n * a.out_h + oh) * a.out_w + ow) * a.channels + c] =
              static_cast<int8_t>(std::clamp<int64_t>(most, a.y_min, a.y_max));
        }
}

}  // namespace deuteron
