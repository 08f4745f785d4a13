// SPDX-License-Identifier: Apache-2.0
// int8 2-D convolution, grouped too.
//   y[n,oh,ow,oc] = clamp(y_zero + rq(bias[oc] + sum over kh,kw,c of (x[n,ih,iw,g*kernel_c+c] +
//   x_offset) * weight[oc,kh,kw,c]), y_min, y_max)
//     ih = oh*stride_h - pad_h + kh*dilation_h, iw likewise; g = oc / (out_c / groups), groups =
//     in_c / kernel_c rq(v) = requantize(v, multiplier[oc], shift[oc]):
//     kernels/integer/requantize.h
// Shapes   x [n,in_h,in_w,in_c]   weight [out_c,kernel_h,kernel_w,kernel_c]   bias [out_c] or null
// y [n,out_h,out_w,out_c]
//          storage order, no gaps
// Units    x_offset = -(zero point of x), -255..255; y_zero in steps; y_min, y_max -128..127;
// weight has zero point 0; multiplier Q0.31 Padding  taps outside x add nothing, on whichever side:
// pad_h, pad_w stand before the first element, and after the last one lies what
//          out_h and out_w ask for
// Limits   in_c = groups * kernel_c, out_c divides by groups, why_not_window(), why_not_steps()
// (kernels/image/window.h) are null; sums wrap at 2^32.
//          All proved by prepare(), not checked here
// Scratch  none (2.3 KB of stack); the argument is for kernels of an instruction set:
// ops/conv2d/scratch.h Errors   none   Aliasing  y overlaps nothing   Source  TFLite 8-bit
// quantization specification, CONV_2D
#pragma once
#include <cstdint>

namespace deuteron {

struct Conv2dArgs {
  int32_t n, in_h, in_w, in_c;
  int32_t out_h, out_w, out_c;
  int32_t kernel_h, kernel_w, kernel_c;
  int32_t stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
  int32_t x_offset, y_zero, y_min, y_max;
  const int32_t *multiplier, *shift;  // [out_c]
  // Found at load, for kernels of an instruction set. False: every shift is 0; every multiplier is
  // 0..2^30-1.
  bool has_shifts = true, has_large_multipliers = true;
};
inline void note_scales(Conv2dArgs& a) {
  a.has_shifts = a.has_large_multipliers = false;
  for (int32_t i = 0; i < a.out_c; ++i) {
    a.has_shifts |= a.shift[i] != 0;
    a.has_large_multipliers |= a.multiplier[i] < 0 || a.multiplier[i] >= 1 << 30;
  }
}

void conv2d_s8(const Conv2dArgs& a, const int8_t* x, const int8_t* weight, const int32_t* bias,
               int8_t* y);

// The same with the M-profile Vector Extension. `scratch`: what ops/conv2d/scratch.h says for it
// holds the windows; with less, windows of up to 1024 elements lie on the stack (3.5 KB), and the
// portable kernel serves the others that need gathering. Reads nothing beyond its operands. Limits
// why_not_conv2d_mve() is null
void conv2d_s8_mve(const Conv2dArgs& a, const int8_t* x, const int8_t* weight, const int32_t* bias,
                   void* scratch, int32_t scratch_bytes, int8_t* y);

// Null where conv2d_s8_mve serves a call, else why the portable kernel does.
inline const char* why_not_conv2d_mve(const Conv2dArgs& a) {
  if (a.x_offset < -127 || a.x_offset > 128) return "the zero point of the input is not int8";
  for (int32_t i = 0; a.has_shifts && i < a.out_c; ++i)
    if (a.shift[i] > 0) return "a channel is scaled by 1 or more";
  return nullptr;
}

// The same with the DSP extension. `scratch`: what ops/conv2d/scratch.h says for it holds the
// windows; without it windows of up to 1024 elements lie on the stack (5 KB). Windows of fewer than
// 4 elements, longer ones than fit, and those of a single filter to a group are met where they lie.
// Reads nothing beyond its operands. Limits   why_not_conv2d_dsp() is null
void conv2d_s8_dsp(const Conv2dArgs& a, const int8_t* x, const int8_t* weight, const int32_t* bias,
                   void* scratch, int32_t scratch_bytes, int8_t* y);

// Of pixels that are rows of a linear layer, at least two, whose weights have an offset: 4 to 512
// elements and at least two filters.
void conv2d_s8_dsp_rows(const Conv2dArgs& a, const int8_t* x, const int8_t* weight,
                        const int32_t* bias, int32_t weight_offset, int8_t* y);

inline const char* why_not_conv2d_dsp(const Conv2dArgs& a) {
  return a.x_offset < -127 || a.x_offset > 128 ? "the zero point of the input is not int8"
                                               : nullptr;
}

// The same with neither. `scratch` holds four windows of int16; without room for them they lie on
// the stack (5 KB), up to 640 elements each, or 2560 where there is one, 1280 with Thumb-1. The
// portable kernel serves longer ones; with Thumb-2 also a single filter to a group, with Thumb-1 an
// input whose zero point is not int8. Reads nothing beyond its operands.
void conv2d_s8_scalar(const Conv2dArgs& a, const int8_t* x, const int8_t* weight,
                      const int32_t* bias, void* scratch, int32_t scratch_bytes, int8_t* y);

}  // namespace deuteron
