// SPDX-License-Identifier: Apache-2.0
// 2-D convolution of int16 by int8 with TFLite's arithmetic (16x8): plain, grouped and depthwise.
//   v                  = first[oc] + sum over kh,kw,c of x[n,ih,iw,g*kernel_c+c] *
//   weight[oc,kh,kw,c],  g = oc / (out_c / groups)
//     ih = oh*stride_h - pad_h + kh*dilation_h, iw likewise; taps outside of the image add nothing
//   conv2d_16x8        y[n,oh,ow,oc] = clamp((v * multiplier[oc] + 2^(shift[oc]-1)) >> shift[oc],
//   y_min, y_max), v in 64 bits conv2d_16x8_narrow y[n,oh,ow,oc] = clamp(requantize(v,
//   multiplier[oc], shift[oc]), y_min, y_max), v modulo 2^32
// Shapes   x [n,in_h,in_w,in_c]   weight [out_c,kernel_h,kernel_w,kernel_c], groups = in_c /
// kernel_c   first, multiplier, shift [out_c]
//          y [n,out_h,out_w,out_c]   storage order, no gaps; first of the wide one may be null:
//          zeros
// Units    x, weight and y have zero point 0; y_min, y_max -32768..32767; wide: multiplier
// 0..32767, shift 1..46, the sum in front of the
//          shift is kept to 32 bits behind it; narrow: kernels/integer/requantize.h, rounded twice
// Limits   why_not_window(), why_not_steps() (kernels/image/window.h) are null: proved by
// prepare(). The compiler proves that
//          |v| < 2^47 for any x; with other numbers the product is taken modulo 2^64, and nothing
//          else happens
// Scratch  none   Errors  none   Aliasing  y overlaps nothing
// Source   TFLite's reference kernels ConvPerChannel and DepthwiseConvPerChannel of int16
#pragma once
#include <cstdint>

namespace deuteron {

struct Conv2d16x8Args {
  int32_t n, in_h, in_w, in_c;
  int32_t out_h, out_w, out_c;
  int32_t kernel_h, kernel_w, kernel_c;
  int32_t stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
  int32_t y_min, y_max;
};

void conv2d_16x8(const Conv2d16x8Args& a, const int16_t* x, const int8_t* weight,
                 const int64_t* first, const int32_t* multiplier, const int32_t* shift, int16_t* y);
void conv2d_16x8_narrow(const Conv2d16x8Args& a, const int16_t* x, const int8_t* weight,
                        const int32_t* first, const int32_t* multiplier, const int32_t* shift,
                        int16_t* y);

// The same with the M-profile Vector Extension.
void conv2d_16x8_mve(const Conv2d16x8Args& a, const int16_t* x, const int8_t* weight,
                     const int64_t* first, const int32_t* multiplier, const int32_t* shift,
                     int16_t* y);
void conv2d_16x8_narrow_mve(const Conv2d16x8Args& a, const int16_t* x, const int8_t* weight,
                            const int32_t* first, const int32_t* multiplier, const int32_t* shift,
                            int16_t* y);

// The same with the DSP extension.
void conv2d_16x8_dsp(const Conv2d16x8Args& a, const int16_t* x, const int8_t* weight,
                     const int64_t* first, const int32_t* multiplier, const int32_t* shift,
                     int16_t* y);
void conv2d_16x8_narrow_dsp(const Conv2d16x8Args& a, const int16_t* x, const int8_t* weight,
                            const int32_t* first, const int32_t* multiplier, const int32_t* shift,
                            int16_t* y);

}  // namespace deuteron
