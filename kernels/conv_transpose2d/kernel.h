// SPDX-License-Identifier: Apache-2.0
// int8 transposed 2-D convolution.
//   y[n,oh,ow,oc] = clamp(y_zero + rq(bias[oc] + sum over kh,kw,c of (x[n,ih,iw,c] + x_offset) *
//   weight[oc,kh,kw,c]), y_min, y_max)
//     over the taps with ih*stride_h + kh - pad_h = oh for some ih inside x, iw likewise
//     rq(v) = requantize(v, multiplier[oc], shift[oc]): kernels/integer/requantize.h
// Shapes   x [n,in_h,in_w,in_c]   weight [out_c,kernel_h,kernel_w,in_c]   bias [out_c] or null   y
// [n,out_h,out_w,out_c]
//          storage order, no gaps
// Units    x_offset = -(zero point of x), -255..255; y_zero in steps; y_min, y_max -128..127;
// weight has zero point 0; multiplier Q0.31 Limits   out_h = (in_h - 1)*stride_h - 2*pad_h +
// kernel_h + output_padding, out_w likewise; sums wrap at 2^32. Proved by prepare() Scratch  none
// (2.3 KB of stack); the arguments are for kernels of an instruction set:
// ops/conv_transpose2d/scratch.h Errors   none   Aliasing  y overlaps nothing   Source  TFLite
// 8-bit quantization specification, TRANSPOSE_CONV
#pragma once
#include <cstdint>

namespace deuteron {

struct ConvTranspose2dArgs {
  int32_t n, in_h, in_w, in_c;
  int32_t out_h, out_w, out_c;
  int32_t kernel_h, kernel_w;
  int32_t stride_h, stride_w, pad_h, pad_w;
  int32_t x_offset, y_zero, y_min, y_max;
  const int32_t *multiplier, *shift;  // [out_c]
};

void conv_transpose2d_s8(const ConvTranspose2dArgs& a, const int8_t* x, const int8_t* weight,
                         const int32_t* bias, int8_t* y);

}  // namespace deuteron
