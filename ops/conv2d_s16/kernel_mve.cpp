// int16 convolution with the M-profile Vector Extension: two windows meet four filters at a time, a single one eight.
#include "ops/conv2d_s16/kernel.h"
#include "ops/conv2d_s16/windows.h"
#include "ops/conv2d_s16/windows_mve.h"

namespace deuteron {
namespace {

struct Filters {
  const Conv2dS16Args& a;
  const int8_t* packed;
  int32_t blocks, tile_bytes;

  void two(const int16_t* x0, const int16_t* x1, int16_t* y0, int16_t* y1) const {
    const int32_t channels = a.out_c, tiles = channels / kPackedTile;
    MveS16Windows w{x0, x1, packed, y0, y1, blocks, tiles, a.y_min, a.y_max};
    if (tiles > 0) deuteron_s16_windows_mve(&w);
    if (channels % kPackedTile == 0) return;
    w.packed += tiles * tile_bytes, w.tiles = 1;
    int16_t out[2 * kPackedTile];
    w.y0 = out, w.y1 = out + kPackedTile;
    deuteron_s16_windows_mve(&w);
    const int32_t at = first_of_tile(channels, tiles), count = channels < kPackedTile ? channels : kPackedTile;
    copy_s16(out, count, y0 + at), copy_s16(out + kPackedTile, count, y1 + at);
  }

  void one(const int16_t* x, int16_t* y) const {
    const int32_t channels = a.out_c, tiles = packed_tiles(channels), pairs = channels / (2 * kPackedTile);
    MveS16Window w{x, packed, y, blocks, pairs, tile_bytes, a.y_min, a.y_max};
    if (pairs > 0) deuteron_s16_window_mve(&w);
    const int32_t left = tiles - 2 * pairs, count = channels < kPackedTile ? channels : kPackedTile;
    if (left == 0) return;
    int16_t out[2 * kPackedTile];  // of one tile, or of two that overlap
    w.packed += 2 * pairs * tile_bytes, w.y = out, w.pairs = 1, w.second = left == 2 ? tile_bytes : 0;
    deuteron_s16_window_mve(&w);
    for (int32_t i = 0; i < left; ++i) copy_s16(out + i * kPackedTile, count, y + first_of_tile(channels, 2 * pairs + i));
  }
};

}  // namespace

void conv2d_s16_mve(const Conv2dS16Args& a, const int16_t* x, const int8_t* packed, void* scratch, int16_t* y) {
  const Filters f{a, packed, s16_blocks(a.length()), packed_s16_tile_bytes(a.length())};
  each_window_s16(
      a, x, scratch, y, [&](const int16_t* x0, const int16_t* x1, int16_t* y0, int16_t* y1) { f.two(x0, x1, y0, y1); },
      [&](const int16_t* window, int16_t* to) { f.one(window, to); });
}

}  // namespace deuteron
