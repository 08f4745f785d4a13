// SPDX-License-Identifier: Apache-2.0
// The average of kernel.h, slow and obvious. Host only, for tests.
#pragma once
#include <cmath>

#include "kernels/avg_pool2d/kernel.h"

namespace deuteron {

// Of elements of any width; halves go away from `base`.
template <class Args, class T>
void average_reference(const Args& a, const T* x, T* y, int64_t base = 0) {
  for (int64_t n = 0; n < a.n; ++n)
    for (int64_t oh = 0; oh < a.out_h; ++oh)
      for (int64_t ow = 0; ow < a.out_w; ++ow)
        for (int64_t c = 0; c < a.channels; ++c) {
          int64_t sum = 0, taps = 0;
          for (int64_t kh = 0; kh < a.kernel_h; ++kh)
            for (int64_t kw = 0; kw < a.kernel_w; ++kw) {
              const int64_t ih = oh * a.stride_h - a.pad_h + kh,
                            iw = ow * a.stride_w - a.pad_w + kw;
              if (ih < 0 || ih >= a.in_h || iw < 0 || iw >= a.in_w) continue;
              sum += x[((n * a.in_h + ih) * a.in_w + iw) * a.channels + c] - base;
              ++taps;
            }
          // Exact in double: the quotient of integers below 2^31 is never within 2^-32 of a half
          // without being one.
          y[((n * a.out_h + oh) * a.out_w + ow) * a.channels + c] = static_cast<T>(
              base + std::lround(static_cast<double>(sum) / static_cast<double>(taps)));
        }
}

inline void avg_pool2d_reference(const AvgPool2dArgs& a, const int8_t* x, int8_t* y) {
  average_reference(a, x, y, a.base);
}

}  // namespace deuteron
