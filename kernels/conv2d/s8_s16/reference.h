// SPDX-License-Identifier: Apache-2.0
// The convolution of kernel.h on plain weights, slow and obvious: one loop nest, 64-bit sums, every
// tap tested. Host only, for tests.
#pragma once
#include "kernels/conv2d/s8_s16/kernel.h"

namespace deuteron {

// weight [out_c,kernel_h,kernel_w,in_c], bias and multiplier [out_c].
inline void conv2d_s8_s16_reference(const Conv2dS8S16Args& args, const int8_t* x,
                                    const int8_t* weight, const int32_t* bias,
                                    const int32_t* multiplier, int16_t* y) {
  const PackedConv2dArgs& a = args.layer;
  for (int64_t n = 0; n < a.n; ++n)
    for (int64_t oh = 0; oh < a.out_h; ++oh)
      for (int64_t ow = 0; ow < a.out_w; ++ow)
        for (int64_t oc = 0; oc < a.out_c; ++oc) {
          int64_t sum = bias[oc];
          for (int64_t kh = 0; kh < a.kernel_h; ++kh)
            for (int64_t kw = 0; kw < a.kernel_w; ++kw)
              for (int64_t c = 0; c < a.in_c; ++c) {
                const int64_t ih = oh * a.stride_h - a.pad_h + kh * a.dilation_h,
                              iw = ow * a.stride_w - a.pad_w + kw * a.dilation_w;
                if (ih < 0 || ih >= a.in_h || iw < 0 || iw >= a.in_w) continue;
                sum += (int64_t{x[((n * a.in_h + ih) * a.in_w + iw) * a.in_c + c]} - a.x_zero) *
                       weight[((oc * a.kernel_h + kh) * a.kernel_w + kw) * a.in_c + c];
              }
          const auto shifted =
              static_cast<int32_t>(static_cast<uint32_t>(sum * (int64_t{1} << args.shift)));
          const int64_t v = (int64_t{shifted} * multiplier[oc] + (int64_t{1} << 30)) >> 31;
          y[((n * a.out_h + oh) * a.out_w + ow) * a.out_c + oc] =
              static_cast<int16_t>(v < args.y_min   ? args.y_min
                                   : v > args.y_max ? args.y_max
                                                    : v);
        }
}

}  // namespace deuteron
