// SPDX-License-Identifier: Apache-2.0
// Convolution with packed weights for the M-profile Vector Extension, of windows three columns wide
// over whole blocks of channels: four windows side by side meet two filters
// (kernels/dense/packed_rows_mve.inc). Windows that lie inside an image of 16 channels are met
// where they lie: there a row of taps is a row of the image.
#pragma once
#include "kernels/conv2d/packed/windows_mve.h"
#include "kernels/dense/packed_rows_mve.h"

namespace deuteron {

// `fours` of windows whose blocks lie as MvePackedRows says.
template <class Results>
[[gnu::noinline]] void run_fours(const PackedConv2dArgs& a, const int8_t* packed, const int8_t* x,
                                 int32_t pitch, int32_t fours, int8_t* y) {
  const int32_t rows = 3 * a.in_c / kPackedBlock, tiles = a.out_c / kPackedTile;
  const int32_t tile_bytes = rows * 3 * kPackedBlock * kPackedTile + kTileNumbers;
  MvePackedRows w{x,      pitch,
                  y,      a.y_step,
                  packed, rows,
                  tiles,  a.y_zero,
                  fours,  Results::shifts(a, packed + packed_tiles(a.out_c) * tile_bytes)};
  Results::run(w);
  if (a.out_c % kPackedTile == 0) return;
  w.packed += tiles * tile_bytes, w.tiles = 1, w.y += a.out_c - kPackedTile;
  Results::go_on_behind(w, tiles);
  Results::run(w);
}

// A row of windows ends with four that are met once more where their number is no multiple.
template <class Results>
[[gnu::noinline]] void run_rows(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                                int8_t* scratch, int32_t room, int8_t* y) {
  const int32_t fit = room / (3 * a.in_c) - 2,
                most = fit < a.out_w ? fit : a.out_w;  // windows whose columns are copied at a time
  const int32_t image_row = a.in_w * a.in_c, reach = 2 * a.dilation_h,
                block = (most + 2) * kPackedBlock;
  const int8x16_t outside = vdupq_n_s8(
      static_cast<int8_t>(a.x_zero));  // `places` is not read: of zeros gcc would make a memset
  const Columns k{a,
                  kPackedBlock,
                  a.in_c / kPackedBlock * block,
                  block,
                  a.in_c,
                  1,
                  vreinterpretq_u8_s8(outside),
                  outside};
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * image_row)
    for (int32_t oh = 0; oh < a.out_h; ++oh, y += a.y_row) {
      const int32_t ih = oh * a.stride_h - a.pad_h;
      const bool lies_as_wanted = a.in_c == kPackedBlock && ih >= 0 && ih + reach < a.in_h;
      for (int32_t ow = 0, count; ow < a.out_w; ow += count) {
        if (a.out_w - ow < 4) ow = a.out_w - 4;
        const int32_t iw = ow - a.pad_w, inside = a.in_w - 2 - iw;
        const bool in_place = lies_as_wanted && iw >= 0 && inside >= 4;
        count = in_place ? inside : lies_as_wanted ? 4 : most;
        count = (count < a.out_w - ow ? count : a.out_w - ow) & -4;
        if (!in_place) deuteron_fill_columns_mve(&k, x, ih, iw, count + 2, scratch);
        run_fours<Results>(a, packed, in_place ? x + ih * image_row + iw * kPackedBlock : scratch,
                           in_place ? a.dilation_h * image_row : block, count / 4,
                           y + ow * a.y_step);
      }
    }
}

}  // namespace deuteron
