// SPDX-License-Identifier: Apache-2.0
// int8 depthwise 2-D convolution; output channel oc reads input channel oc / depth_multiplier.
//   y[n,oh,ow,oc] = clamp(y_zero + rq(bias[oc] + sum over kh,kw of (x[n,ih,iw,oc/depth_multiplier]
//   + x_offset) * weight[kh,kw,oc]), y_min, y_max)
//     ih = oh*stride_h - pad_h + kh*dilation_h, iw likewise; rq(v) = requantize(v, multiplier[oc],
//     shift[oc]): kernels/integer/requantize.h
// Shapes   x [n,in_h,in_w,in_c]   weight [kernel_h,kernel_w,out_c]   bias [out_c] or null   y
// [n,out_h,out_w,out_c]   storage order, no gaps Units    x_offset = -(zero point of x), -255..255;
// y_zero in steps; y_min, y_max -128..127; weight has zero point 0; multiplier Q0.31 Padding  taps
// outside x add nothing, on whichever side: pad_h, pad_w stand before the first element, and after
// the last one lies what
//          out_h and out_w ask for
// Limits   out_c = in_c * depth_multiplier, why_not_window(), why_not_steps()
// (kernels/image/window.h) are null; sums wrap at 2^32.
//          All proved by prepare(), not checked here
// Scratch  none (256 bytes of stack); the argument is for kernels of an instruction set:
// ops/conv2d/depthwise_scratch.h Errors   none   Aliasing  y overlaps nothing   Source  TFLite
// 8-bit quantization specification, DEPTHWISE_CONV_2D
#pragma once
#include <cstdint>

namespace deuteron {

struct DepthwiseConv2dArgs {
  int32_t n, in_h, in_w, in_c;
  int32_t out_h, out_w, out_c, depth_multiplier;
  int32_t kernel_h, kernel_w;
  int32_t stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
  int32_t x_offset, y_zero, y_min, y_max;
  const int32_t *multiplier, *shift;  // [out_c]
};

void depthwise_conv2d_s8(const DepthwiseConv2dArgs& a, const int8_t* x, const int8_t* weight,
                         const int32_t* bias, int8_t* y);

// The same with the M-profile Vector Extension. `scratch`: what ops/conv2d/depthwise_scratch.h says
// for it; with less, strips lie on the stack (2.9 KB). Reads nothing beyond its operands. Limits
// why_not_depthwise_conv2d_mve() is null
void depthwise_conv2d_s8_mve(const DepthwiseConv2dArgs& a, const int8_t* x, const int8_t* weight,
                             const int32_t* bias, void* scratch, int32_t scratch_bytes, int8_t* y);

// Null where depthwise_conv2d_s8_mve serves a call, else why the portable kernel does.
inline const char* why_not_depthwise_conv2d_mve(const DepthwiseConv2dArgs& a) {
  for (int32_t i = 0; i < a.out_c; ++i)
    if (a.shift[i] > 0) return "a channel is scaled by 1 or more";
  return nullptr;
}

// The same with the DSP extension (3.6 KB of stack, 4 KB for one input channel); the portable
// kernel serves fewer than 4 output channels. Limits   why_not_depthwise_conv2d_dsp() is null
void depthwise_conv2d_s8_dsp(const DepthwiseConv2dArgs& a, const int8_t* x, const int8_t* weight,
                             const int32_t* bias, int8_t* y);

inline const char* why_not_depthwise_conv2d_dsp(const DepthwiseConv2dArgs& a) {
  return a.x_offset < -127 || a.x_offset > 128 ? "the zero point of the input is not int8"
                                               : nullptr;
}

// The same without vectors, for what depthwise_conv2d_s8_dsp serves with any zero point (3.5 KB of
// stack); the portable kernel serves the rest.
void depthwise_conv2d_s8_scalar(const DepthwiseConv2dArgs& a, const int8_t* x, const int8_t* weight,
                                const int32_t* bias, int8_t* y);

// What the three come to for windows of 3x3: has_patches(), has_planes() (three_by_three.h); for
// others, of more than one channel of x, with DSP of at least 4 output channels; and for a single
// channel of x: turned_fit() (turned.h). A C program calls them by these names, and has nothing for
// other calls.
void depthwise_conv2d_s8_mve_3x3(const DepthwiseConv2dArgs& a, const int8_t* x,
                                 const int8_t* weight, const int32_t* bias, void* scratch,
                                 int32_t scratch_bytes, int8_t* y);
void depthwise_conv2d_s8_mve_channels(const DepthwiseConv2dArgs& a, const int8_t* x,
                                      const int8_t* weight, const int32_t* bias, void* scratch,
                                      int32_t scratch_bytes, int8_t* y);
void depthwise_conv2d_s8_dsp_3x3(const DepthwiseConv2dArgs& a, const int8_t* x,
                                 const int8_t* weight, const int32_t* bias, int8_t* y);
void depthwise_conv2d_s8_dsp_channels(const DepthwiseConv2dArgs& a, const int8_t* x,
                                      const int8_t* weight, const int32_t* bias, int8_t* y);
void depthwise_conv2d_s8_dsp_turned(const DepthwiseConv2dArgs& a, const int8_t* x,
                                    const int8_t* weight, const int32_t* bias, int8_t* y);
void depthwise_conv2d_s8_scalar_3x3(const DepthwiseConv2dArgs& a, const int8_t* x,
                                    const int8_t* weight, const int32_t* bias, int8_t* y);
void depthwise_conv2d_s8_scalar_turned(const DepthwiseConv2dArgs& a, const int8_t* x,
                                       const int8_t* weight, const int32_t* bias, int8_t* y);

}  // namespace deuteron
