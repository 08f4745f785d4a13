// SPDX-License-Identifier: Apache-2.0
// The filters of a convolution in parts, each of some tiles: unpacked, then computed by the kernel
// of int8.
#pragma once
#include "kernels/conv2d/packed_w4/kernel.h"

namespace deuteron {

// Tiles first..first+count-1 as int8, with their shifts behind them where there are any.
// unpack(tile parts, tile, to): the weights of one.
template <Packing p, class Unpack>
void unpack_tiles(const W4Tile& t, bool has_shifts, const int8_t* packed, int32_t count, int8_t* to,
                  const Unpack& unpack) {
  const int32_t bytes = t.weights_bytes + kTileNumbers;
  int8_t* shifts = to + count * bytes;
  for (int32_t i = 0; i < count; ++i, packed += t.bytes, to += bytes) {
    unpack_numbers<p>(t, packed, to);
    unpack(packed, to + (p == Packing::dsp_4x4 ? kDspNumbersFirst : 0));
    if (has_shifts) std::memcpy(shifts + i * kShiftsBytes, packed + kTileNumbers, kShiftsBytes);
  }
}

// unpack: the weights of one tile; run: the kernel of int8. Both are known where this is compiled:
// through a pointer the stack would have no bound.
template <Packing p, void (*unpack)(const W4Tile&, int32_t length, const int8_t* tile, int8_t* to),
          void (*run)(const PackedConv2dArgs&, const int8_t*, const int8_t*, void*, int32_t,
                      int8_t*)>
void run_in_parts(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed, void* scratch,
                  int32_t scratch_bytes, int8_t* y) {
  const int32_t length = a.length(), tiles = packed_tiles(a.out_c);
  const W4Tile t = w4_tile(p, length, a.has_shifts);
  const W4Room room = packed_conv2d_w4_room(a, p, scratch_bytes);
  auto* const unpacked = static_cast<int8_t*>(scratch);
  const int32_t tile_bytes = t.weights_bytes + kTileNumbers + (a.has_shifts ? kShiftsBytes : 0);
  PackedConv2dArgs part = a;
  for (int32_t first = 0; first < tiles; first += room.tiles, packed += room.tiles * t.bytes) {
    const int32_t left = tiles - first, count = left < room.tiles ? left : room.tiles;
    unpack_tiles<p>(t, a.has_shifts, packed, count, unpacked,
                    [&](const int8_t* tile, int8_t* to) { unpack(t, length, tile, to); });
    // The last tile overlaps its neighbour, or stands by itself behind it.
    const int32_t channel = count == 1 ? first_of_tile(a.out_c, first) : first * kPackedTile;
    const int32_t end = (first + count) * kPackedTile;
    part.out_c = (end < a.out_c ? end : a.out_c) - channel;
    run(part, x, unpacked, unpacked + count * tile_bytes, room.behind, y + channel);
  }
}

}  // namespace deuteron
