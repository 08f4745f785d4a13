// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/machine/microcode.h"

namespace deuteron::neutron {

// Conv2DStandardV1, Conv2DStandardV2, Conv2DPointwise, Conv2DTransposed.
//   y[n,oh,ow,oc] = clamp(y_zero + rq_oc(bias[oc] + sum over kh,kw,c of (x[n,ih,iw,c] - x_zero) *
//   w[oc,kh,kw,c])) ih = oh*stride_h + kh*dilation_h - pad_top, iw likewise
// What lies outside x reads as x_zero. Conv2DTransposed sums over the ih, kh with ih*stride_h +
// kh*dilation_h - pad_top = oh (and so for columns); out_h and out_w are given, and results that no
// tap reaches are those of the bias. Conv2DPointwise has a kernel of 1x1. Pitches: elements from a
// pixel to the next, >= the channels; a group of a grouped convolution, or a part of a
// concatenation, is a call with c < x_pitch or out_c < y_pitch and an offset within the pixel. Rows
// and images follow as if a pixel had pitch elements.
//
// Limits   kernel, stride, dilation <= kMostWindow; kernel_h * kernel_w * round_up(c, 8) <=
// kMostProducts
//
// params   kParamBytes for each of out_c output channels: int32 bias, int32 multiplier, int8 shift;
// not aligned
//
// weights  packed, int8, padded with zeros, in blocks of 64 bytes [8 output channels][8 lanes]; at
// any offset
//   StandardV1, Pointwise, Transposed
//     [ceil(out_c/8)][kernel_h][kernel_w][ceil(c/8)][8 output channels][8 input channels]
//   StandardV2, for few channels: the lanes go over the row of a window; dilation_w = 1
//     [ceil(out_c/8)][kernel_h][ceil(kernel_w*c/8)][8 output channels][8 of (kw,c), c fastest]
struct ConvCall {
  Operand x, y, weights, params;
  int32_t n, h, w, c, x_pitch;
  int32_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left;
  int32_t out_h, out_w, out_c, y_pitch;
  int32_t x_zero, y_zero, y_min, y_max;
};
constexpr int64_t conv_weight_bytes(Kind kind, const ConvCall& a) {
  const int64_t row = kind == Kind::kConv2DStandardV2 ? round_up_to(int64_t{a.kernel_w} * a.c, 8)
                                                      : a.kernel_w * round_up_to(a.c, 8);
  return round_up_to(a.out_c, 8) * a.kernel_h * row;
}

}  // namespace deuteron::neutron
