// SPDX-License-Identifier: Apache-2.0
// int8 2-D convolution with int16 results, on weights packed ahead of time; also fully connected
// layers: rows are then the image.
//   y[n,oh,ow,oc] = clamp(rq((first[oc] + sum over kh,kw,c of x[n,ih,iw,c] * weight[oc,kh,kw,c]) <<
//   shift), y_min, y_max)
//     ih = oh*stride_h - pad_h + kh*dilation_h, iw likewise; rq(v) = (v * multiplier[oc] + 2^30) >>
//     31: multiply_high()
// Shapes   x [n,in_h,in_w,in_c]   y [n,out_h,out_w,out_c]   storage order, no gaps; packed:
// packed_bytes(mve_4x16, out_c, length) bytes
//          (kernels/dense/packing.h), for every instruction set
// Units    x_zero -128..127; y has zero point 0; shift 0..15; multiplier 0..2^31-1; y_min, y_max
// -32768..32767 Padding  reads as x_zero, which first[] takes out again; pad_h, pad_w stand before
// the first element, and after the last one lies what
//          out_h and out_w ask for
// Limits   why_not_packed_conv2d() is null for mve_4x16, without shifts of filters;
// why_not_window() (kernels/image/window.h) too for both
//          axes: proved by prepare(). The compiler proves that no sum times 2^shift leaves int32;
//          with other bytes sums wrap modulo 2^32, and nothing else happens
// Scratch  packed_conv2d_scratch_bytes(), 4-aligned
// Errors   none   Aliasing  y overlaps nothing   Source  docs/precision.md
#pragma once
#include "kernels/conv2d/packed/kernel.h"

namespace deuteron {

struct Conv2dS8S16Args {
  PackedConv2dArgs layer;  // y_zero 0, has_shifts false
  int32_t shift, y_min, y_max;
};
inline constexpr int32_t kS8S16MostShift = 15;

void conv2d_s8_s16(const Conv2dS8S16Args& a, const int8_t* x, const int8_t* packed, void* scratch,
                   int16_t* y);

// The same with the M-profile Vector Extension.
void conv2d_s8_s16_mve(const Conv2dS8S16Args& a, const int8_t* x, const int8_t* packed,
                       void* scratch, int16_t* y);

// The same with the DSP extension.
void conv2d_s8_s16_dsp(const Conv2dS8S16Args& a, const int8_t* x, const int8_t* packed,
                       void* scratch, int16_t* y);

}  // namespace deuteron
