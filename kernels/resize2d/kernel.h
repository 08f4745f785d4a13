// SPDX-License-Identifier: Apache-2.0
// int8 bilinear resizing. y has the scale and the zero point of x, so no number is brought to
// another scale.
//   y[n,oh,ow,c] = round((sum over the four neighbours of x[n,h,w,c] * weight) / 2^(2 *
//   kResizeBits)), halves away from zero rows[oh] = {first, weight}: between rows first and first +
//   1, with 2^kResizeBits - weight and weight; columns[ow] likewise
// Shapes   x [n,in_h,in_w,channels]   rows [out_h,2]   columns [out_w,2]   y
// [n,out_h,out_w,channels]   storage order, no gaps Limits   first 0..in-1, weight
// 0..2^kResizeBits, and 0 where first is the last one. Proved by prepare(). A sum is at most 128 *
// 2^22 = 2^29,
//          and y lies between its neighbours, so nothing is clamped
// Scratch  none   Errors  none   Aliasing  y overlaps nothing   Source  TFLite's reference,
// RESIZE_BILINEAR, whose positions have 10 bits
#pragma once
#include <cstdint>

namespace deuteron {

inline constexpr int kResizeBits = 11;  // the most with sums in int32

struct Resize2dArgs {
  int32_t n, in_h, in_w, channels, out_h, out_w;
};

void resize2d_s8(const Resize2dArgs& a, const int8_t* x, const int32_t* rows,
                 const int32_t* columns, int8_t* y);

// The same with the M-profile Vector Extension.
void resize2d_s8_mve(const Resize2dArgs& a, const int8_t* x, const int32_t* rows,
                     const int32_t* columns, int8_t* y);

}  // namespace deuteron
