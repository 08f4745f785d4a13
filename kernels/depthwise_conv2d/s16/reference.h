// SPDX-License-Identifier: Apache-2.0
// The depthwise convolution of kernel.h, slow and obvious, of int16 and of int8 with a zero point.
// Host only, for tests.
#pragma once
#include "kernels/depthwise_conv2d/s16/kernel.h"

namespace deuteron {

template <class X>
void depthwise_conv2d_s16_reference(const DepthwiseS16Args& a, const X* x, const int16_t* weight,
                                    const int32_t* first, const int32_t* multiplier, int16_t* y,
                                    int64_t x_zero = 0) {
  for (int64_t n = 0; n < a.n; ++n)
    for (int64_t oh = 0; oh < a.out_h; ++oh)
      for (int64_t ow = 0; ow < a.out_w; ++ow)
        for (int64_t c = 0; c < a.channels; ++c) {
          int64_t sum = first[c];
          for (int64_t kh = 0; kh < a.kernel_h; ++kh)
            for (int64_t kw = 0; kw < a.kernel_w; ++kw) {
              const int64_t ih = oh * a.stride_h - a.pad_h + kh * a.dilation_h,
                            iw = ow * a.stride_w - a.pad_w + kw * a.dilation_w;
              if (ih < 0 || ih >= a.in_h || iw < 0 || iw >= a.in_w) continue;
              sum += (x[((n * a.in_h + ih) * a.in_w + iw) * a.channels + c] - x_zero) *
                     weight[(kh * a.kernel_w + kw) * a.channels + c];
            }
          const auto wrapped = static_cast<int32_t>(static_cast<uint32_t>(sum));
          const int64_t v = (int64_t{wrapped} * multiplier[c] + (int64_t{1} << 30)) >> 31;
          y[((n * a.out_h + oh) * a.out_w + ow) * a.channels + c] =
              static_cast<int16_t>(v < a.y_min   ? a.y_min
                                   : v > a.y_max ? a.y_max
                                                 : v);
        }
}

}  // namespace deuteron
