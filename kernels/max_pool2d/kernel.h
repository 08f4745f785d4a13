// SPDX-License-Identifier: Apache-2.0
// int8 maximum pooling with a clamp; padding is never the maximum.
//   y[n,oh,ow,c] = clamp(max over the window's taps inside x, y_min, y_max); a window with no tap
//   inside gives y_min
// Shapes   x [n,in_h,in_w,channels]   y [n,out_h,out_w,channels]   storage order, no gaps
// Units    raw int8 steps: input and output share scale and zero point; y_min, y_max -128..127
// Padding  pad_h, pad_w stand before the first element; after the last one lies what out_h and
// out_w ask for Limits   why_not_window(), why_not_steps() (kernels/image/window.h) are null.
// Proved by prepare() Scratch  none   Errors  none   Aliasing  y overlaps nothing   Source  TFLite
// 8-bit quantization specification, MAX_POOL_2D
#pragma once
#include <cstdint>

namespace deuteron {

struct MaxPool2dArgs {
  int32_t n, in_h, in_w, channels, out_h, out_w;
  int32_t kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
  int32_t y_min, y_max;
};

void max_pool2d_s8(const MaxPool2dArgs& a, const int8_t* x, int8_t* y);

// The same with the M-profile Vector Extension.
void max_pool2d_s8_mve(const MaxPool2dArgs& a, const int8_t* x, int8_t* y);

// The same with the DSP extension, and without both.
void max_pool2d_s8_dsp(const MaxPool2dArgs& a, const int8_t* x, int8_t* y);
void max_pool2d_s8_scalar(const MaxPool2dArgs& a, const int8_t* x, int8_t* y);

}  // namespace deuteron
