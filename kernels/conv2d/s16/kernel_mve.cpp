// SPDX-License-Identifier: Apache-2.0
// int16 convolution with the M-profile Vector Extension: two windows meet four filters at a time, a
// single one eight.
#include "kernels/conv2d/s16/kernel.h"
#include "kernels/conv2d/s16/windows.h"
#include "kernels/conv2d/s16/windows_mve.h"

namespace deuteron {
namespace {

struct Filters {
  const Conv2dS16Args& a;
  const int8_t* packed;
  int32_t blocks, tile_bytes;

  void several(const int16_t* x, int32_t step, int32_t windows, int16_t* y) const {
    const int32_t channels = a.out_c, tiles = channels / kPackedTile;
    MveS16Windows w{x, step * 2, y, channels * 2, packed, blocks, tiles, a.y_min, windows, a.y_max};
    if (tiles > 0) deuteron_s16_windows_mve(&w);
    if (channels % kPackedTile == 0) return;
    w.packed += tiles * tile_bytes, w.tiles = 1;
    if (channels > kPackedTile) {
      w.y += channels - kPackedTile;
      return deuteron_s16_windows_mve(&w);
    }
    int16_t out[2 * kPackedTile];  // fewer filters than a tile has
    w.y_step = kPackedTile * 2;
    for (int32_t i = 0; i < windows; i += 2) {
      w.x = x + i * step, w.y = out, w.windows = windows - i < 2 ? 1 : 2;
      deuteron_s16_windows_mve(&w);
      for (int32_t k = 0; k < w.windows; ++k)
        copy_columns_s16(out + k * kPackedTile, 0, channels, 1, y + (i + k) * channels, 0);
    }
  }

  void one(const int16_t* x, int16_t* y) const {
    const int32_t channels = a.out_c, tiles = packed_tiles(channels),
                  pairs = channels / (2 * kPackedTile);
    MveS16Window w{x, packed, y, blocks, pairs, tile_bytes, a.y_min, a.y_max};
    if (pairs > 0) deuteron_s16_window_mve(&w);
    const int32_t left = tiles - 2 * pairs, count = channels < kPackedTile ? channels : kPackedTile;
    if (left == 0) return;
    int16_t out[2 * kPackedTile];  // of one tile, or of two that overlap
    w.packed += 2 * pairs * tile_bytes, w.y = out, w.pairs = 1,
                                        w.second = left == 2 ? tile_bytes : 0;
    deuteron_s16_window_mve(&w);
    for (int32_t i = 0; i < left; ++i)
      copy_columns_s16(out + i * kPackedTile, 0, count, 1,
                       y + first_of_tile(channels, 2 * pairs + i), 0);
  }
};

}  // namespace

void conv2d_s16_mve(const Conv2dS16Args& a, const int16_t* x, const int8_t* packed, void* scratch,
                    int16_t* y) {
  const Filters f{a, packed, s16_blocks(a.length()), packed_s16_tile_bytes(a.length())};
  each_strip_s16(a, x, scratch, y,
                 [&](const int16_t* window, int32_t step, int32_t windows, int16_t* to) {
                   if (windows == 1) f.one(window, to);
                   else f.several(window, step, windows, to);
                 });
}

}  // namespace deuteron
