// SPDX-License-Identifier: Apache-2.0
// The depthwise convolution of kernel.h, slow and obvious: one loop nest, 64-bit sums, every tap
// tested. Host only, for tests.
#pragma once
#include "kernels/depthwise_conv2d/kernel.h"
#include "kernels/integer/requantize_reference.h"

namespace deuteron {

inline void depthwise_conv2d_reference(const DepthwiseConv2dArgs& a, const int8_t* x,
                                       const int8_t* weight, const int32_t* bias, int8_t* y) {
  for (int64_t n = 0; n < a.n; ++n)
    for (int64_t oh = 0; oh < a.out_h; ++oh)
      for (int64_t ow = 0; ow < a.out_w; ++ow)
        for (int64_t oc = 0; oc < a.out_c; ++oc) {
          int64_t sum = bias ? bias[oc] : 0;
          for (int64_t kh = 0; kh < a.kernel_h; ++kh)
            for (int64_t kw = 0; kw < a.kernel_w; ++kw) {
              const int64_t ih = oh * a.stride_h - a.pad_h + kh * a.dilation_h,
                            iw = ow * a.stride_w - a.pad_w + kw * a.dilation_w;
              if (ih < 0 || ih >= a.in_h || iw < 0 || iw >= a.in_w) continue;
              sum += (x[((n * a.in_h + ih) * a.in_w + iw) * a.in_c + oc / a.depth_multiplier] +
                      int64_t{a.x_offset}) *
                     weight[(kh * a.kernel_w + kw) * a.out_c + oc];
            }
          const int64_t v =
              wrap32_reference(requantize_reference(sum, a.multiplier[oc], a.shift[oc]) + a.y_zero);
          y[((n * a.out_h + oh) * a.out_w + ow) * a.out_c + oc] =
              static_cast<int8_t>(v < a.y_min   ? a.y_min
                                  : v > a.y_max ? a.y_max
                                                : v);
        }
}

}  // namespace deuteron
