// SPDX-License-Identifier: Apache-2.0
// Transposed 2-D convolution of int16 by int8 with TFLite's arithmetic (16x8).
//   v = first[oc] + sum over kh,kw,c of x[n,ih,iw,c] * weight[oc,kh,kw,c]
//     over the taps with ih*stride_h + kh - pad_h = oh for some ih inside x, iw likewise
//   conv_transpose2d_16x8         y[n,oh,ow,oc] = clamp((v * multiplier[oc] + 2^(shift[oc]-1)) >>
//   shift[oc], y_min, y_max), v in 64 bits conv_transpose2d_16x8_narrow  y[n,oh,ow,oc] =
//   clamp(requantize(v, multiplier[oc], shift[oc]), y_min, y_max), v modulo 2^32
// Shapes   x [n,in_h,in_w,in_c]   weight [out_c,kernel_h,kernel_w,in_c]   first, multiplier, shift
// [out_c]   y [n,out_h,out_w,out_c]
//          storage order, no gaps; first of the wide one may be null: zeros
// Units    those of kernels/conv2d/16x8/kernel.h; strides 1..2^29, pads 0..2^29
// Limits   out_h = (in_h - 1)*stride_h - 2*pad_h + kernel_h + more, more below stride_h; out_w
// likewise: proved by prepare() Scratch  none   Errors  none   Aliasing  y overlaps nothing Source
// TFLite's reference kernel TransposeConv of int16
#pragma once
#include <cstdint>

namespace deuteron {

struct ConvTranspose2d16x8Args {
  int32_t n, in_h, in_w, in_c;
  int32_t out_h, out_w, out_c;
  int32_t kernel_h, kernel_w;
  int32_t stride_h, stride_w, pad_h, pad_w;
  int32_t y_min, y_max;
};

void conv_transpose2d_16x8(const ConvTranspose2d16x8Args& a, const int16_t* x, const int8_t* weight,
                           const int64_t* first, const int32_t* multiplier, const int32_t* shift,
                           int16_t* y);
void conv_transpose2d_16x8_narrow(const ConvTranspose2d16x8Args& a, const int16_t* x,
                                  const int8_t* weight, const int32_t* first,
                                  const int32_t* multiplier, const int32_t* shift, int16_t* y);

}  // namespace deuteron
