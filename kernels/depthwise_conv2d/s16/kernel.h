// SPDX-License-Identifier: Apache-2.0
// int16 depthwise convolution with sums in int32: each channel by itself.
//   y[n,oh,ow,c] = clamp(rq(first[c] + sum over kh,kw of x[n,ih,iw,c] * weight[kh,kw,c]), y_min,
//   y_max)
//     ih = oh*stride_h - pad_h + kh*dilation_h, iw likewise; rq(v) = (v * multiplier[c] + 2^30) >>
//     31: multiply_high()
// Shapes   x [n,in_h,in_w,channels]   weight [kernel_h,kernel_w,channels]   first, multiplier
// [channels]   y [n,out_h,out_w,channels]
//          storage order, no gaps
// Units    x and y have zero point 0; multiplier 0..2^31-1; y_min, y_max -32768..32767
// Padding  adds nothing; pad_h, pad_w stand before the first element
// Limits   why_not_window(), why_not_steps() (kernels/image/window.h) are null: proved by
// prepare(). The compiler proves that no sum leaves int32 for
//          any x within its type's range; with other numbers sums wrap modulo 2^32, and nothing
//          else happens
// Scratch  none   Errors   none   Aliasing  y overlaps nothing   Source  docs/precision.md
#pragma once
#include <cstdint>

namespace deuteron {

struct DepthwiseS16Args {
  int32_t n, in_h, in_w, channels;
  int32_t out_h, out_w;
  int32_t kernel_h, kernel_w;
  int32_t stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
  int32_t y_min, y_max;
};

void depthwise_conv2d_s16(const DepthwiseS16Args& a, const int16_t* x, const int16_t* weight,
                          const int32_t* first, const int32_t* multiplier, int16_t* y);

// The same with the M-profile Vector Extension.
void depthwise_conv2d_s16_mve(const DepthwiseS16Args& a, const int16_t* x, const int16_t* weight,
                              const int32_t* first, const int32_t* multiplier, int16_t* y);

// The same with the DSP extension.
void depthwise_conv2d_s16_dsp(const DepthwiseS16Args& a, const int16_t* x, const int16_t* weight,
                              const int32_t* first, const int32_t* multiplier, int16_t* y);

}  // namespace deuteron
