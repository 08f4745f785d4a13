// Convolution with packed weights for the M-profile Vector Extension. Windows of one row of taps are met where they lie in x. For others
// the columns of taps of neighbouring windows are copied to lie one after the other, kernel_h pixels each, so that windows overlap there as
// they do in x: each element is copied kernel_h / stride_h times and not for every tap.
#include <arm_mve.h>

#include <cstring>

#include "ops/dense/packed_mve.h"
#include "ops/packed_conv2d/kernel.h"

namespace deuteron {
namespace {

// What every window of a call meets.
struct Filters {
  const PackedConv2dArgs& a;
  const int8_t* packed;
  int32_t length, blocks, tile_bytes;
};

// A window of which not all bytes of the last block may be read, or the only one.
void run_window(const Filters& f, const int8_t* x, int8_t* y) {
  alignas(16) int8_t last[kPackedBlock];
  const int32_t before = (f.blocks - 1) * kPackedBlock, channels = f.a.out_c;
  vst1q_s8(last, vld1q_z_s8(x + before, vctp8q(static_cast<uint32_t>(f.length - before))));
  const int32_t tiles = packed_tiles(channels), pairs = channels / (2 * kPackedTile);
  const int8_t* const shifts = f.a.has_shifts ? f.packed + tiles * f.tile_bytes : nullptr;
  MvePackedWindow w{x, last, f.packed, y, f.blocks - 1, pairs, f.tile_bytes, f.a.y_zero, shifts};
  if (pairs > 0) deuteron_packed_window_mve(&w);
  const int32_t left = tiles - 2 * pairs;
  if (left == 0) return;
  int8_t out[2 * kPackedTile];  // of one tile, or of two that overlap
  alignas(4) int8_t of_left[2 * kShiftsBytes] = {};
  w.packed += 2 * pairs * f.tile_bytes;
  w.y = out, w.pairs = 1, w.second = left == 2 ? f.tile_bytes : 0;
  if (shifts)
    w.shifts = static_cast<int8_t*>(std::memcpy(of_left, shifts + 2 * pairs * kShiftsBytes, static_cast<size_t>(left * kShiftsBytes)));
  deuteron_packed_window_mve(&w);
  const int32_t count = channels < kPackedTile ? channels : kPackedTile;
  for (int32_t i = 0; i < left; ++i)
    std::memcpy(y + first_of_tile(channels, 2 * pairs + i), out + i * kPackedTile, static_cast<size_t>(count));
}

// `windows` of them, `step` apart, whose last blocks may be read.
void run_windows(const Filters& f, const int8_t* x, int32_t step, int32_t windows, int8_t* y) {
  const int32_t channels = f.a.out_c, tiles = channels / kPackedTile;
  MvePackedWindows w{x, step, y, f.a.y_step, f.packed, f.blocks, tiles, f.a.y_zero, windows};
  deuteron_packed_windows_mve(&w);
  if (channels % kPackedTile == 0) return;
  w.packed += tiles * f.tile_bytes, w.tiles = 1, w.y += channels - kPackedTile;
  deuteron_packed_windows_mve(&w);
}

// Windows in one piece. `end`: of x.
void run_in_one_piece(const Filters& f, const int8_t* x, int32_t step, int32_t windows, const int8_t* end, int8_t* y) {
  const int32_t last = static_cast<int32_t>(end - x) - f.blocks * kPackedBlock;  // where a window may begin
  const int32_t whole = last < 0 ? 0 : last / step + 1, count = whole < windows ? whole : windows;
  if (count > 1) run_windows(f, x, step, count, y);
  for (int32_t i = count > 1 ? count : 0; i < windows; ++i) run_window(f, x + i * step, y + i * f.a.y_step);
}

// How pixels go to the columns of taps.
struct Columns {
  const PackedConv2dArgs& a;
  int32_t column;     // bytes from a column to the next
  int32_t together;   // pixels of fewer than 16 channels that one vector holds
  uint8x16_t places;  // where its bytes go
  int8_t outside[kPackedBlock];
};

Columns columns_of(const PackedConv2dArgs& a) {
  const int32_t c = a.in_c;
  Columns k{a, a.kernel_h * c, 1, vdupq_n_u8(0), {}};
  vst1q_s8(k.outside, vdupq_n_s8(static_cast<int8_t>(a.x_zero)));
  if (c >= kPackedBlock) return k;
  const int32_t fit = kPackedBlock / c, reach = (256 - c) / k.column + 1;  // a place is a byte
  k.together = fit < reach ? fit : reach;
  uint8_t places[kPackedBlock] = {};
  for (int32_t i = 0; i < k.together; ++i)
    for (int32_t e = 0; e < c; ++e) places[i * c + e] = static_cast<uint8_t>(i * k.column + e);
  k.places = vld1q_u8(places);
  return k;
}

// Pixels of one row, to a row of their columns. is_outside: all of them are the zero point, and x is Columns::outside.
template <bool is_outside>
void copy_pixels(const Columns& k, const int8_t* x, int32_t pixels, int8_t* to) {
  const int32_t c = k.a.in_c, column = k.column;
  if (c < kPackedBlock) {
    for (; pixels > 0; pixels -= k.together, to += k.together * column) {
      const mve_pred16_t here = vctp8q(static_cast<uint32_t>((pixels < k.together ? pixels : k.together) * c));
      vstrbq_scatter_offset_p_s8(to, k.places, vld1q_z_s8(x, here), here);
      if (!is_outside) x += k.together * c;
    }
    return;
  }
  for (int32_t first = 0; first < c; first += kPackedBlock) {
    const int8_t* from = is_outside ? x : x + first;
    int8_t* at = to + first;
    if (c - first >= kPackedBlock) {
      for (int32_t i = pixels; i > 0; --i, at += column) {
        vst1q_s8(at, vld1q_s8(from));
        if (!is_outside) from += c;
      }
      continue;
    }
    const mve_pred16_t here = vctp8q(static_cast<uint32_t>(c - first));
    for (int32_t i = pixels; i > 0; --i, at += column) {
      vst1q_p_s8(at, vld1q_z_s8(from, here), here);
      if (!is_outside) from += c;
    }
  }
}

// `columns` columns of taps from row ih, column iw of the image on, which may lie outside.
void fill_columns(const Columns& k, const int8_t* image, int32_t ih, int32_t iw, int32_t columns, int8_t* to) {
  const PackedConv2dArgs& a = k.a;
  const int32_t c = a.in_c;
  const int32_t left = iw < 0 ? (-iw < columns ? -iw : columns) : 0;
  const int32_t reach = a.in_w - iw < columns ? a.in_w - iw : columns, inside = reach > left ? reach - left : 0;
  const int32_t right = columns - left - inside;
  for (int32_t kh = 0; kh < a.kernel_h; ++kh, ih += a.dilation_h, to += c) {
    if (ih < 0 || ih >= a.in_h) {
      copy_pixels<true>(k, k.outside, columns, to);
      continue;
    }
    if (left > 0) copy_pixels<true>(k, k.outside, left, to);
    copy_pixels<false>(k, image + (ih * a.in_w + iw + left) * c, inside, to + left * k.column);
    if (right > 0) copy_pixels<true>(k, k.outside, right, to + (left + inside) * k.column);
  }
}

// `room`: bytes of columns, at least those of one window, beside the block behind them.
void run_columns(const Filters& f, const int8_t* image, int8_t* scratch, int32_t room, int8_t* y) {
  const PackedConv2dArgs& a = f.a;
  const Columns k = columns_of(a);
  const int32_t step = a.stride_w * k.column;
  const int32_t fit = (room - a.kernel_w * k.column) / step + 1;
  const int32_t most = fit >= a.out_w || fit == 1 ? fit : fit / 2 * 2;  // windows at a time: an odd number wastes one
  for (int32_t oh = 0; oh < a.out_h; ++oh, y += a.y_row)
    for (int32_t ow = 0; ow < a.out_w; ow += most) {
      const int32_t windows = a.out_w - ow < most ? a.out_w - ow : most;
      fill_columns(k, image, oh * a.stride_h - a.pad_h, ow * a.stride_w - a.pad_w, (windows - 1) * a.stride_w + a.kernel_w, scratch);
      if (a.out_c < kPackedTile) run_window(f, scratch, y);
      else run_windows(f, scratch, step, windows, y + ow * a.y_step);
    }
}

// `room`: bytes of the columns that are copied to `scratch` at a time.
[[gnu::noinline]] void run(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed, int8_t* scratch, int32_t room, int8_t* y) {
  const int32_t length = a.length(), image = a.in_h * a.in_w * a.in_c;
  const Filters f{a, packed, length, (length + kPackedBlock - 1) / kPackedBlock,
                  static_cast<int32_t>(packed_tile_bytes(Packing::mve_4x16, length))};
  const int8_t* const end = x + a.n * image;
  const bool in_one_piece = packed_conv2d_is_in_one_piece(a);
  const int32_t step = a.stride_w * a.in_c, row = a.y_row;
  const bool all_pixels = in_one_piece && a.kernel_w == 1 && a.stride_h == 1 && a.stride_w == 1 && a.out_h == a.in_h && a.out_w == a.in_w &&
                          packed_conv2d_is_dense(a);
  if (all_pixels) return run_in_one_piece(f, x, step, a.n * a.out_h * a.out_w, end, y);
  for (int32_t n = 0; n < a.n; ++n, x += image, y += a.out_h * row) {
    if (!in_one_piece) {
      run_columns(f, x, scratch, room, y);
      continue;
    }
    for (int32_t oh = 0; oh < a.out_h; ++oh) run_in_one_piece(f, x + oh * a.stride_h * a.in_w * a.in_c, step, a.out_w, end, y + oh * row);
  }
}

[[gnu::noinline]] void run_on_stack(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed, int32_t bytes, int8_t* y) {
  int8_t columns[kPackedStackColumns];
  run(a, x, packed, columns, (bytes < kPackedStackColumns ? bytes : kPackedStackColumns) - kPackedBlock, y);
}

}  // namespace

void packed_conv2d_s8_mve(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed, void* scratch, int32_t scratch_bytes,
                          int8_t* y) {
  const auto bytes = static_cast<int32_t>(packed_conv2d_scratch_bytes(a, Packing::mve_4x16));
  if (scratch_bytes < bytes && scratch_bytes <= kPackedStackColumns) run_on_stack(a, x, packed, bytes, y);
  else run(a, x, packed, static_cast<int8_t*>(scratch), (scratch_bytes < bytes ? scratch_bytes : bytes) - kPackedBlock, y);
}

}  // namespace deuteron
