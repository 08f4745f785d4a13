// SPDX-License-Identifier: Apache-2.0
// Convolution with packed weights for the M-profile Vector Extension. Windows of one row of taps
// are met where they lie in x. For others the columns of taps of neighbouring windows are copied to
// lie one after the other, kernel_h pixels each, so that windows overlap there as they do in x:
// each element is copied kernel_h / stride_h times and not for every tap.
#pragma once
#include <arm_mve.h>

#include <cstring>

#include "kernels/common/one_copy.h"
#include "kernels/conv2d/packed/copy_mve.h"
#include "kernels/conv2d/packed/kernel.h"
#include "kernels/dense/packed_mve.h"
#include "kernels/image/window.h"

namespace deuteron {

// What every window of a call meets. Results: makes them of the sums, of type Results::Y. Where
// Results::meets_windows() is false, windows in one piece meet the filters one by one.
template <class Results>
struct PackedFilters {
  const PackedConv2dArgs& a;
  const int8_t* packed;
  int32_t length, blocks, tile_bytes;
  Results results;
};

template <class Results>
PackedFilters<Results> filters_of(const PackedConv2dArgs& a, const int8_t* packed,
                                  const Results& results) {
  const int32_t length = a.length(), blocks = (length + kPackedBlock - 1) / kPackedBlock;
  return {a,      packed, length, blocks, blocks * kPackedBlock * kPackedTile + kTileNumbers,
          results};  // packed_tile_bytes() in 32 bits
}

// A window of which not all bytes of the last block may be read, or the only one.
template <class Results>
void run_window(const PackedFilters<Results>& f, const int8_t* x, typename Results::Y* y) {
  using Y = typename Results::Y;
  alignas(16) int8_t last[kPackedBlock];
  const int32_t before = (f.blocks - 1) * kPackedBlock, channels = f.a.out_c;
  vst1q_s8(last, vld1q_z_s8(x + before, vctp8q(static_cast<uint32_t>(f.length - before))));
  const int32_t tiles = packed_tiles(channels), pairs = channels / (2 * kPackedTile);
  auto w = f.results.window(f.a, x, last, f.packed, y, f.blocks - 1, pairs, f.tile_bytes,
                            f.packed + tiles * f.tile_bytes);
  if (pairs > 0) f.results.run(w);
  const int32_t left = tiles - 2 * pairs;
  if (left == 0) return;
  Y out[2 * kPackedTile];          // of one tile, or of two that overlap
  typename Results::Left of_left;  // of one tile only half of it is written: the results of the
                                   // other half do not count
  f.results.go_on_behind(w, pairs, left, of_left);
  w.packed += 2 * pairs * f.tile_bytes;
  w.y = out, w.pairs = 1, w.second = left == 2 ? f.tile_bytes : 0;
  f.results.run(w);
  const int32_t count = channels < kPackedTile ? channels : kPackedTile;
  for (int32_t i = 0; i < left; ++i)
    std::memcpy(y + first_of_tile(channels, 2 * pairs + i), out + i * kPackedTile,
                static_cast<size_t>(count) * sizeof(Y));
}

// `windows` of them, `step` apart, whose last blocks may be read.
template <class Results>
DEUTERON_ONE_COPY void run_windows(const PackedFilters<Results>& f, const int8_t* x, int32_t step,
                                   int32_t windows, typename Results::Y* y) {
  const int32_t channels = f.a.out_c, tiles = channels / kPackedTile;
  auto w = f.results.windows(f.a, x, step, y, f.packed, f.blocks, tiles, windows,
                             f.packed + packed_tiles(channels) * f.tile_bytes);
  f.results.run(w);
  if (channels % kPackedTile == 0) return;
  w.packed += tiles * f.tile_bytes, w.tiles = 1, w.y += channels - kPackedTile;
  f.results.go_on_behind(w, tiles);
  f.results.run(w);
}

// Windows in one piece, two by two, and what is left over one by one. `end`: of what may be read.
template <class Results>
void run_in_one_piece(const PackedFilters<Results>& f, const int8_t* x, int32_t step,
                      int32_t windows, const int8_t* end, typename Results::Y* y) {
  // where a window may begin
  const int32_t last = static_cast<int32_t>(end - x) - f.blocks * kPackedBlock;
  const int32_t whole = last < 0 ? 0 : last / step + 1,
                some = !Results::meets_windows(f.a) ? 0
                       : whole < windows            ? whole
                                                    : windows,
                even = some & -2;
  if (even > 0) run_windows(f, x, step, even, y);
  for (int32_t i = even; i < windows; ++i) run_window(f, x + i * step, y + i * f.a.y_step);
}

inline Columns columns_of(const PackedConv2dArgs& a, int32_t next) {
  const int32_t c = a.in_c;
  Columns k{a,
            a.kernel_h * c,
            c,
            kPackedBlock,
            next,
            1,
            vidupq_n_u8(0, 1),
            vdupq_n_s8(static_cast<int8_t>(a.x_zero))};
  if (c >= kPackedBlock || next != c) return k;
  const int32_t fit = kPackedBlock / c, reach = (256 - c) / k.column + 1;  // a place is a byte
  k.together = fit < reach ? fit : reach;
  const uint8x16_t lanes = k.places;
  // each pixel goes further than the one before it
  for (int32_t pixel = c; pixel < kPackedBlock; pixel += c)
    k.places = vaddq_m_n_u8(k.places, k.places, static_cast<uint8_t>(k.column - c),
                            vcmpcsq_n_u8(lanes, static_cast<uint8_t>(pixel)));
  return k;
}

// Windows of one row of taps side by side lie in x as they are wanted, but for those that reach
// outside: how many windows from the one at column iw on are of one kind, and whether they lie so.
struct WindowRun {
  int32_t count;
  bool in_place;
};
inline WindowRun run_of_windows(const PackedConv2dArgs& a, int32_t iw) {
  if (iw < 0) return {(-iw + a.stride_w - 1) / a.stride_w, false};
  const int32_t room = a.in_w - a.kernel_w - iw;
  return room < 0 ? WindowRun{a.out_w, false} : WindowRun{room / a.stride_w + 1, true};
}

// `room`: bytes of the columns that are copied to `scratch` at a time, at least those of one
// window, beside the block behind them. `next`: bytes of x from a pixel to the next; all windows
// are copied where that is more than a pixel has.
template <class Results>
[[gnu::noinline]] void run_columns(const PackedConv2dArgs& a, const Results& results,
                                   const int8_t* x, const int8_t* packed, int8_t* scratch,
                                   int32_t room, int32_t next, typename Results::Y* y) {
  const PackedFilters<Results> f = filters_of(a, packed, results);
  const Columns k = columns_of(a, next);
  const int32_t step = a.stride_w * k.column, most = packed_conv2d_windows_in(a, room);
  const int32_t image = a.in_h * a.in_w * a.in_c;
  const int8_t* const end = x + a.n * image;
  for (int32_t n = 0; n < a.n; ++n, x += image)
    for (int32_t oh = 0; oh < a.out_h; ++oh, y += a.y_row) {
      const int32_t ih = oh * a.stride_h - a.pad_h;
      const bool may_lie = a.kernel_h == 1 && ih >= 0 && ih < a.in_h && next == a.in_c;
      for (int32_t ow = 0, windows; ow < a.out_w; ow += windows) {
        const int32_t iw = ow * a.stride_w - a.pad_w;
        const WindowRun run = may_lie ? run_of_windows(a, iw) : WindowRun{a.out_w, false};
        windows = run.count < a.out_w - ow ? run.count : a.out_w - ow;
        if (run.in_place) {
          run_in_one_piece(f, x + (ih * a.in_w + iw) * a.in_c, a.stride_w * a.in_c, windows, end,
                           y + ow * a.y_step);
          continue;
        }
        windows = windows < most ? windows : most;
        const int32_t columns = (windows - 1) * a.stride_w + a.kernel_w;
        deuteron_fill_columns_mve(&k, x, ih, iw, columns, scratch);
        // Read to the end of the block, against weights of 0; of a file that has others, the result
        // may not depend on what the memory held.
        int8_t* const behind = scratch + columns * k.column;
        vst1q_s8(behind, vdupq_n_s8(0));
        run_in_one_piece(f, scratch, step, windows, behind + kPackedBlock, y + ow * a.y_step);
      }
    }
}

// Windows of a row whose taps are apart: those whose taps are `apart` pixels from one another are
// the row of a convolution without dilation.
template <class Results>
[[gnu::noinline]] void run_apart(const PackedConv2dArgs& a, const Results& results, const int8_t* x,
                                 const int8_t* packed, int8_t* scratch, int32_t room,
                                 typename Results::Y* y) {
  const int32_t apart = a.dilation_w, phases = apart < a.out_w ? apart : a.out_w;
  PackedConv2dArgs part{1,
                        1,
                        0,
                        a.in_c,
                        1,
                        0,
                        a.out_c,
                        1,
                        a.kernel_w,
                        1,
                        1,
                        0,
                        0,
                        1,
                        1,
                        a.x_zero,
                        a.y_zero,
                        a.has_shifts,
                        phases * a.y_step,
                        0};
  for (int32_t p = 0; p < phases; ++p, y += a.y_step) {
    const int32_t begin = p - a.pad_w;  // of the first window
    part.pad_w = begin < 0 ? (apart - 1 - begin) / apart : 0;
    const int32_t meets = begin + part.pad_w * apart, first = meets < a.in_w ? meets : a.in_w;
    part.in_w = (a.in_w - first + apart - 1) / apart;
    part.out_w = (a.out_w - p + phases - 1) / phases;
    run_columns(part, results, x + first * a.in_c, packed, scratch, room, apart * a.in_c, y);
  }
}

// Windows that lie in x as they are wanted. Where they are all of its pixels, one row of them is.
template <class Results>
void run_in_place(const PackedConv2dArgs& a, const Results& results, const int8_t* x,
                  const int8_t* packed, typename Results::Y* y) {
  const PackedFilters<Results> f = filters_of(a, packed, results);
  const int32_t image = a.in_h * a.in_w * a.in_c, row = a.stride_h * a.in_w * a.in_c;
  const int8_t* const end = x + a.n * image;
  const bool all_pixels = a.kernel_w == 1 && a.stride_h == 1 && a.stride_w == 1 &&
                          a.out_h == a.in_h && a.out_w == a.in_w && packed_conv2d_is_one_row(a);
  const int32_t images = all_pixels ? 1 : a.n, rows = all_pixels ? 1 : a.out_h;
  const int32_t windows = all_pixels ? a.n * a.out_h * a.out_w : a.out_w;
  for (int32_t n = 0; n < images; ++n, x += image)
    for (int32_t oh = 0; oh < rows; ++oh, y += a.y_row)
      run_in_one_piece(f, x + oh * row, a.stride_w * a.in_c, windows, end, y);
}

}  // namespace deuteron
