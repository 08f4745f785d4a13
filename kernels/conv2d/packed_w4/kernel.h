// SPDX-License-Identifier: Apache-2.0
// int8 2-D convolution and fully connected layers with weights of four bits
// (kernels/conv2d/packed_w4/tiles.h): the bits of packed_conv2d_s8()
// (kernels/conv2d/packed/kernel.h) with the int8 weights that they stand for. Some tiles at a time
// are unpacked to the scratch, and the kernel of int8 computes their filters; cores meet a window
// that is alone with weights as they lie.
// Shapes, units, padding   as there; packed: w4_bytes(packing, out_c, length, has_shifts) bytes
// Limits   as there. Other bytes in `packed` make results of any int8, and nothing else happens
// Scratch  packed_conv2d_w4_scratch_bytes(): all tiles, and what the kernel of int8 uses; or down
//          to packed_conv2d_w4_least_scratch_bytes(): one tile. 4-aligned. Windows that are
//          gathered are gathered again for every part of the tiles
// Errors   none   Aliasing  y overlaps nothing
#pragma once
#include "kernels/conv2d/packed/kernel.h"
#include "kernels/conv2d/packed_w4/tiles.h"

namespace deuteron {

// Of a tile in the scratch.
inline int64_t packed_conv2d_w4_unpacked_bytes(const PackedConv2dArgs& a, Packing p) {
  return packed_tile_bytes(p, a.wide_length()) + (a.has_shifts ? kShiftsBytes : 0);
}
inline int64_t packed_conv2d_w4_least_scratch_bytes(const PackedConv2dArgs& a, Packing p) {
  return packed_conv2d_w4_unpacked_bytes(a, p) + packed_conv2d_least_scratch_bytes(a, p);
}
inline int64_t packed_conv2d_w4_scratch_bytes(const PackedConv2dArgs& a, Packing p) {
  if (packed_conv2d_is_alone(a)) return packed_conv2d_w4_least_scratch_bytes(a, p);
  return packed_tiles(a.out_c) * packed_conv2d_w4_unpacked_bytes(a, p) +
         packed_conv2d_scratch_bytes(a, p);
}

// How the scratch is shared out: tiles that are unpacked at a time, and bytes behind them for the
// kernel of int8.
struct W4Room {
  int32_t tiles, behind;
};
DEUTERON_ONE_COPY inline W4Room packed_conv2d_w4_room(const PackedConv2dArgs& a, Packing p,
                                                      int32_t scratch_bytes) {
  const auto tile = static_cast<int32_t>(packed_conv2d_w4_unpacked_bytes(a, p));
  const auto most = static_cast<int32_t>(packed_conv2d_scratch_bytes(a, p));
  const int32_t behind = scratch_bytes - tile >= most
                             ? most
                             : static_cast<int32_t>(packed_conv2d_least_scratch_bytes(a, p));
  const int32_t fit = (scratch_bytes - behind) / tile, all = packed_tiles(a.out_c);
  if (fit >= all) return {all, behind};
  return {fit < 2 ? 1 : fit / 2 * 2, behind};  // an odd number wastes half a meeting of one window
}

template <Packing p>
void packed_conv2d_w4_s8(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                         void* scratch, int32_t scratch_bytes, int8_t* y);

// The same with the M-profile Vector Extension, for mve_4x16.
void packed_conv2d_w4_s8_mve(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                             void* scratch, int32_t scratch_bytes, int8_t* y);
// The same with the DSP extension, for dsp_4x4.
void packed_conv2d_w4_s8_dsp(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                             void* scratch, int32_t scratch_bytes, int8_t* y);

}  // namespace deuteron
