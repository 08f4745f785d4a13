// SPDX-License-Identifier: Apache-2.0
// The convolution of kernel.h, slow and obvious: one loop nest, every tap tested, 128 bits. Host
// only, for tests.
#pragma once
#include <cmath>

#include "kernels/conv2d/16x8/kernel.h"
#include "kernels/integer/requantize_reference.h"

namespace deuteron {

// The sum of one result.
inline int64_t conv2d_16x8_sum(const Conv2d16x8Args& a, const int16_t* x, const int8_t* weight,
                               int64_t n, int64_t oh, int64_t ow, int64_t oc) {
  int64_t sum = 0;
  const int64_t group = oc / (a.out_c / (a.in_c / a.kernel_c));
  for (int64_t kh = 0; kh < a.kernel_h; ++kh)
    for (int64_t kw = 0; kw < a.kernel_w; ++kw)
      for (int64_t c = 0; c < a.kernel_c; ++c) {
        const int64_t ih = oh * a.stride_h - a.pad_h + kh * a.dilation_h,
                      iw = ow * a.stride_w - a.pad_w + kw * a.dilation_w;
        if (ih < 0 || ih >= a.in_h || iw < 0 || iw >= a.in_w) continue;
        sum += int64_t{x[((n * a.in_h + ih) * a.in_w + iw) * a.in_c + group * a.kernel_c + c]} *
               weight[((oc * a.kernel_h + kh) * a.kernel_w + kw) * a.kernel_c + c];
      }
  return sum;
}

// Rounded down behind half of the divisor has been added: halves up.
inline int64_t requantize_16x8_reference(int64_t sum, int32_t multiplier, int32_t shift) {
  const __int128 divisor = __int128{1} << shift, v = __int128{sum} * multiplier + divisor / 2;
  __int128 quotient = v / divisor;
  if (quotient * divisor > v) --quotient;
  return static_cast<int64_t>(quotient);
}

inline int16_t clamped_16x8(int64_t v, int64_t low, int64_t high) {
  return static_cast<int16_t>(v < low ? low : v > high ? high : v);
}

}  // namespace deuteron
