// SPDX-License-Identifier: Apache-2.0
// The transposed convolution of kernel.h the other way round: every input element is scattered over
// the outputs that it reaches. Host only, for tests.
#pragma once
#include <cstddef>
#include <vector>

#include "kernels/conv_transpose2d/kernel.h"
#include "kernels/integer/requantize_reference.h"

namespace deuteron {

// The sums of all results, in the order of their memory. x_at(i): element i of x, as far from its
// zero point as it is.
template <class Args, class XAt>
std::vector<int64_t> scattered_sums(const Args& a, const int8_t* weight, const XAt& x_at) {
  std::vector<int64_t> sums(static_cast<size_t>(int64_t{a.n} * a.out_h * a.out_w * a.out_c));
  for (int64_t n = 0; n < a.n; ++n)
    for (int64_t ih = 0; ih < a.in_h; ++ih)
      for (int64_t iw = 0; iw < a.in_w; ++iw)
        for (int64_t oc = 0; oc < a.out_c; ++oc)
          for (int64_t kh = 0; kh < a.kernel_h; ++kh)
            for (int64_t kw = 0; kw < a.kernel_w; ++kw) {
              const int64_t oh = ih * a.stride_h + kh - a.pad_h,
                            ow = iw * a.stride_w + kw - a.pad_w;
              if (oh < 0 || oh >= a.out_h || ow < 0 || ow >= a.out_w) continue;
              for (int64_t c = 0; c < a.in_c; ++c)
                sums[static_cast<size_t>(((n * a.out_h + oh) * a.out_w + ow) * a.out_c + oc)] +=
                    x_at(((n * a.in_h + ih) * a.in_w + iw) * a.in_c + c) *
                    weight[((oc * a.kernel_h + kh) * a.kernel_w + kw) * a.in_c + c];
            }
  return sums;
}

inline void conv_transpose2d_reference(const ConvTranspose2dArgs& a, const int8_t* x,
                                       const int8_t* weight, const int32_t* bias, int8_t* y) {
  std::vector<int64_t> sums =
      scattered_sums(a, weight, [&](int64_t at) { return x[at] + int64_t{a.x_offset}; });
  for (size_t i = 0; i < sums.size(); ++i) {
    const size_t oc = i % static_cast<size_t>(a.out_c);
    if (bias) sums[i] += bias[oc];
    const int64_t v =
        wrap32_reference(requantize_reference(sums[i], a.multiplier[oc], a.shift[oc]) + a.y_zero);
    y[i] = static_cast<int8_t>(v < a.y_min ? a.y_min : v > a.y_max ? a.y_max : v);
  }
}

}  // namespace deuteron
