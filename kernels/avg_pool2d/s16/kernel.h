// SPDX-License-Identifier: Apache-2.0
// int16 average pooling; padding counts neither as value nor as element.
//   y[n,oh,ow,c] = round(sum / taps), halves away from zero; sum and taps over the window's
//   elements that lie inside x
//     trunc((sum + taps/2) / taps) where sum > 0, else trunc((sum - taps/2) / taps), taps/2
//     truncated
// Shapes   x [n,in_h,in_w,channels]   y [n,out_h,out_w,channels]   storage order, no gaps
// Units    raw int16 steps: input and output share the scale
// Limits   each window has a tap inside; kernel_h * kernel_w cut to the image < 2^16, so that sums
// fit int32. Proved by prepare() Scratch  none   Errors   none   Aliasing  y overlaps nothing
// Source  TFLite's 16x8 AVERAGE_POOL_2D
#pragma once
#include <cstdint>

namespace deuteron {

struct AvgPool2dS16Args {
  int32_t n, in_h, in_w, channels, out_h, out_w;
  int32_t kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w;
};

inline constexpr int32_t kS16MostTaps = (1 << 16) - 1;

void avg_pool2d_s16(const AvgPool2dS16Args& a, const int16_t* x, int16_t* y);

// The same with the M-profile Vector Extension.
void avg_pool2d_s16_mve(const AvgPool2dS16Args& a, const int16_t* x, int16_t* y);

}  // namespace deuteron
