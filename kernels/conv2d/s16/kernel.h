// SPDX-License-Identifier: Apache-2.0
// int16 2-D convolution with sums in int32; also fully connected layers: rows are then the image.
//   y[n,oh,ow,oc] = clamp(rq(first[oc] + sum over kh,kw,c of x[n,ih,iw,c] * weight[oc,kh,kw,c]),
//   y_min, y_max)
//     ih = oh*stride_h - pad_h + kh*dilation_h, iw likewise; rq(v) = (v * multiplier[oc] + 2^30) >>
//     31: multiply_high()
// Shapes   x [n,in_h,in_w,in_c]   y [n,out_h,out_w,out_c]   storage order, no gaps; packed:
// packed_s16_bytes(out_c, length) bytes Packing  a window is its columns of taps one after the
// other, [kernel_w,kernel_h,in_c], so that neighbours overlap as they do in x; where
// a
//          column is odd, one element behind it has weight 0, and counts in length. Filters stand
//          in tiles of four; where their number is no multiple, the last tile overlaps its
//          neighbour, and fewer than four are filled up with zeros. A tile is blocks of 8 elements,
//          8 of each filter in turn, zeros behind the last element; then first[4] and
//          multiplier[4], int32, multiplier 0..2^31-1. One packing for every instruction set
// Units    x is 4-aligned; x and y have zero point 0; y_min, y_max -32768..32767
// Padding  reads as 0; pad_h, pad_w stand before the first element, and after the last one lies
// what out_h and out_w ask for Limits   why_not_window(), why_not_steps() (kernels/image/window.h)
// are null, length <= 2^15: proved by prepare(). The compiler proves that no sum
//          leaves int32 for any x within its type's range; with other bytes sums wrap modulo 2^32,
//          and nothing else happens
// Scratch  conv2d_s16_scratch_bytes(), 4-aligned
// Errors   none   Aliasing  y overlaps nothing   Source  docs/precision.md
#pragma once
#include <cstdint>

#include "kernels/dense/packing.h"

namespace deuteron {

struct Conv2dS16Args {
  int32_t n, in_h, in_w, in_c;
  int32_t out_h, out_w, out_c;
  int32_t kernel_h, kernel_w;
  int32_t stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
  int32_t y_min, y_max;
  int32_t column() const { return (kernel_h * in_c + 1) / 2 * 2; }  // elements of a column of taps
  int32_t length() const { return kernel_w * column(); }
};

inline constexpr int32_t kS16Block = 8;             // elements
inline constexpr int32_t kS16MostLength = 1 << 15;  // elements of a filter

constexpr int32_t s16_blocks(int32_t length) { return (length + kS16Block - 1) / kS16Block; }
constexpr int32_t packed_s16_tile_bytes(int32_t length) {
  return s16_blocks(length) * kS16Block * kPackedTile * 2 + kTileNumbers;
}
constexpr int64_t packed_s16_bytes(int32_t filters, int32_t length) {
  return int64_t{packed_tiles(filters)} * packed_s16_tile_bytes(length);
}

// Windows lie in x as they are wanted: whole blocks of one pixel, or of one row of taps side by
// side, each from a word on.
inline bool conv2d_s16_is_in_one_piece(const Conv2dS16Args& a) {
  return a.kernel_h == 1 && (a.kernel_w == 1 || a.dilation_w == 1) && a.pad_h == 0 &&
         a.pad_w == 0 && a.in_c % 2 == 0 && a.length() % kS16Block == 0 &&
         int64_t{a.out_h - 1} * a.stride_h < a.in_h &&
         int64_t{a.out_w - 1} * a.stride_w + a.kernel_w - 1 < a.in_w;
}
// Otherwise columns of taps of neighbouring windows are copied to scratch: of as many windows as
// four would take that do not overlap, of short ones as many as a kilobyte holds, at most a row of
// them; of one where columns are dilated.
inline constexpr int32_t kS16Strip = 512;  // elements
inline int32_t conv2d_s16_windows_at_once(const Conv2dS16Args& a) {
  if (a.dilation_w != 1) return 1;
  const int64_t four = 4 * int64_t{a.length()}, most = four < kS16Strip ? kS16Strip : four;
  const int64_t fit = (most - a.length()) / (int64_t{a.stride_w} * a.column()) + 1;
  if (fit >= a.out_w) return a.out_w;
  return fit == 1 ? 1 : static_cast<int32_t>(fit / 2 * 2);
}
inline int64_t conv2d_s16_scratch_bytes(const Conv2dS16Args& a) {
  if (conv2d_s16_is_in_one_piece(a)) return 0;
  const int64_t columns = int64_t{conv2d_s16_windows_at_once(a) - 1} * a.stride_w + a.kernel_w;
  return (columns * a.column() + kS16Block) * 2;  // the last block is read to its end
}

void conv2d_s16(const Conv2dS16Args& a, const int16_t* x, const int8_t* packed, void* scratch,
                int16_t* y);

// The same with the M-profile Vector Extension.
void conv2d_s16_mve(const Conv2dS16Args& a, const int16_t* x, const int8_t* packed, void* scratch,
                    int16_t* y);

// The same with the DSP extension.
void conv2d_s16_dsp(const Conv2dS16Args& a, const int16_t* x, const int8_t* packed, void* scratch,
                    int16_t* y);

}  // namespace deuteron
