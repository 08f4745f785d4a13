// SPDX-License-Identifier: Apache-2.0
// Bilinear resizing of bytes as TFLite's reference has it: in float32, in its order, and cut off
// after half a step is added. x and y are the int8 of bytes, 128 less, with one scale and zero
// point.
//   y[n,oh,ow,c] = trunc(p(r,s)*(1-h)*(1-w) + p(r',s)*h*(1-w) + p(r,s')*(1-h)*w + p(r',s')*h*w +
//   0.5) - 128 p(r,s) = x[n,r,s,c] + 128;  rows[oh] = {r, the bits of h};  columns[ow] = {s, the
//   bits of w} r' is r where r is the last row or h is negative, else r + 1; s' likewise
// Shapes   x [n,in_h,in_w,channels]   rows [out_h,2]   columns [out_w,2]   y
// [n,out_h,out_w,channels]   storage order, no gaps Limits   r 0..in_h-1, h -1..1; s and w
// likewise. Proved by prepare() Scratch  none   Errors  none   Aliasing  y overlaps nothing Source
// TFLite's reference, RESIZE_BILINEAR of uint8. Without contraction of products and sums:
// -ffp-contract=off
#pragma once
#include "kernels/resize2d/kernel.h"

namespace deuteron {

void resize2d_bytes(const Resize2dArgs& a, const int8_t* x, const int32_t* rows,
                    const int32_t* columns, int8_t* y);

}  // namespace deuteron
