// SPDX-License-Identifier: Apache-2.0
// int8 average pooling; padding counts neither as value nor as element.
//   y[n,oh,ow,c] = base + round(sum / taps), halves away from zero; sum of x - base, and taps, over
//   the window's elements that lie inside x
//     trunc((sum + taps/2) / taps) where sum > 0, else trunc((sum - taps/2) / taps), taps/2
//     truncated
// Shapes   x [n,in_h,in_w,channels]   y [n,out_h,out_w,channels]   storage order, no gaps
// Units    raw int8 steps: input and output share scale and zero point. base is 0, or kBytesBase:
// then no sum is negative, and halves go up Limits   each window has a tap inside; kernel_h *
// kernel_w cut to the image <= 2^23, so that sums fit int32. Proved by prepare() Scratch  none (256
// bytes of stack); the argument is for kernels of an instruction set: ops/avg_pool2d/scratch.h
// Errors   none   Aliasing  y overlaps nothing   Source  TFLite 8-bit quantization specification,
// AVERAGE_POOL_2D
#pragma once
#include <cstdint>

namespace deuteron {

struct AvgPool2dArgs {
  int32_t n, in_h, in_w, channels, out_h, out_w;
  int32_t kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w;
  int32_t base;
};
inline constexpr int32_t kBytesBase = -128;  // the int8 of a uint8 that is 0

void avg_pool2d_s8(const AvgPool2dArgs& a, const int8_t* x, int8_t* y);

// The same with the M-profile Vector Extension.
void avg_pool2d_s8_mve(const AvgPool2dArgs& a, const int8_t* x, int8_t* y);

// The same with the DSP extension, and without both. Fewer than 4 channels are left to the portable
// kernel; without both windows of more than 181 taps too, and with Thumb-1 words that are not
// aligned.
void avg_pool2d_s8_dsp(const AvgPool2dArgs& a, const int8_t* x, int8_t* y);
void avg_pool2d_s8_scalar(const AvgPool2dArgs& a, const int8_t* x, int8_t* y);

}  // namespace deuteron
