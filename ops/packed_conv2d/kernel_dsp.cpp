// Convolution with packed weights for the DSP extension: two windows at a time are widened side by side, without an offset, and meet all
// filters, four by four; a single window meets eight.
#include <cstring>

#include "ops/conv2d/windows_dsp.h"
#include "ops/dense/packed_dsp.h"
#include "ops/packed_conv2d/kernel.h"

namespace deuteron {
namespace {

int32_t tile_bytes(const PackedConv2dArgs& a) { return static_cast<int32_t>(packed_tile_bytes(Packing::dsp_4x4, a.length())); }
int32_t quads_of(const PackedConv2dArgs& a) { return (a.length() + kPackedQuad - 1) / kPackedQuad; }

Conv2dArgs plain_args(const PackedConv2dArgs& a) {
  Conv2dArgs c{};
  c.n = a.n, c.in_h = a.in_h, c.in_w = a.in_w, c.in_c = c.kernel_c = a.in_c;
  c.out_h = a.out_h, c.out_w = a.out_w, c.out_c = a.out_c, c.kernel_h = a.kernel_h, c.kernel_w = a.kernel_w;
  c.stride_h = a.stride_h, c.stride_w = a.stride_w, c.pad_h = a.pad_h, c.pad_w = a.pad_w;
  c.dilation_h = a.dilation_h, c.dilation_w = a.dilation_w;
  c.x_offset = -a.x_zero, c.y_zero = a.y_zero, c.y_min = -128, c.y_max = 127;
  return c;
}

// All filters against two widened windows: whole tiles, and one that overlaps the last of them.
struct Tiles {
  DspPackedWindows whole, rest;
  int32_t rest_at;  // the first filter of the rest; 0: there is none

  void run(int8_t* y0, int8_t* y1) {
    whole.y0 = y0, whole.y1 = y1;
    deuteron_packed_windows_dsp(&whole);
    if (rest_at == 0) return;
    rest.y0 = y0 + rest_at, rest.y1 = y1 + rest_at;
    deuteron_packed_windows_dsp(&rest);
  }
};

Tiles tiles_of(const PackedConv2dArgs& a, const int16_t* windows, const int8_t* packed) {
  const int8_t* const end = packed + a.out_c / kPackedTile * tile_bytes(a);
  const int32_t quads = quads_of(a);
  return {{windows, quads, packed, end, nullptr, nullptr, a.y_zero},
          {windows, quads, end, end + tile_bytes(a), nullptr, nullptr, a.y_zero},
          a.out_c % kPackedTile == 0 ? 0 : a.out_c - kPackedTile};
}

// All filters against one.
void run_window(const PackedConv2dArgs& a, const int16_t* window, const int8_t* packed, int8_t* y) {
  const int32_t pairs = a.out_c / (2 * kPackedTile), left = packed_tiles(a.out_c) - 2 * pairs;
  const int8_t* const shifts = a.has_shifts ? packed + packed_tiles(a.out_c) * tile_bytes(a) : nullptr;
  DspPackedWindow w{window, quads_of(a), packed, y, pairs, tile_bytes(a), a.y_zero, shifts};
  if (pairs > 0) deuteron_packed_window_dsp(&w);
  if (left == 0) return;
  int8_t out[2 * kPackedTile];  // of one tile, or of two that overlap
  alignas(4) int8_t of_left[2 * kShiftsBytes] = {};
  w.packed += 2 * pairs * w.second;
  w.y = out, w.pairs = 1;
  if (shifts)
    w.shifts = static_cast<int8_t*>(std::memcpy(of_left, shifts + 2 * pairs * kShiftsBytes, static_cast<size_t>(left * kShiftsBytes)));
  if (left == 1) w.second = 0;
  deuteron_packed_window_dsp(&w);
  for (int32_t i = 0; i < left; ++i) std::memcpy(y + first_of_tile(a.out_c, 2 * pairs + i), out + i * kPackedTile, kPackedTile);
}

// One window, which lies in x as it is wanted.
void run_alone(const PackedConv2dArgs& a, const DspWindows& c, const int8_t* x, const int8_t* packed, int8_t* y) {
  int16_t* to = deuteron_widen_dsp(x, c.quads, c.windows, 0, 1);
  if (c.rest != 0) {
    int8_t quad[kDspQuad];
    rest_of(c, x, quad);
    deuteron_widen_dsp(quad, 1, to, 0, 1);
  }
  run_window(a, c.windows, packed, y);
}

// Every pixel of whole quads is a window.
bool are_pixels(const PackedConv2dArgs& a) {
  return packed_conv2d_is_in_one_piece(a) && a.kernel_w == 1 && a.stride_h == 1 && a.stride_w == 1 && a.out_h == a.in_h &&
         a.out_w == a.in_w && a.in_c % kPackedQuad == 0 && packed_conv2d_is_dense(a);
}
void run_pixels(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed, int16_t* windows, int8_t* y) {
  Tiles tiles = tiles_of(a, windows, packed);
  const int32_t quads = quads_of(a), in_c = a.in_c, out_c = a.out_c;
  for (int32_t left = a.n * a.out_h * a.out_w; left > 0; left -= 2, x += 2 * in_c, y += 2 * out_c) {
    const bool two = left > 1;
    deuteron_widen_two_dsp(x, two ? x + in_c : x, quads, windows, 0);
    tiles.run(y, two ? y + out_c : y);
  }
}

// Windows of three rows of nine bytes, as those of 3x3 over three channels: no quad of them is one of a row.
bool has_rows_of_nine(const PackedConv2dArgs& a) {
  return a.kernel_h == 3 && a.kernel_w * a.in_c == 9 && a.dilation_w == 1 && !packed_conv2d_is_in_one_piece(a);
}

void run(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed, int16_t* windows, int8_t* y) {
  if (are_pixels(a) && !packed_conv2d_is_alone(a)) return run_pixels(a, x, packed, windows, y);
  const Conv2dArgs plain = plain_args(a);
  DspWindows c = windows_of(plain, x, windows, 2, 0, static_cast<int16_t>(a.x_zero));
  if (packed_conv2d_is_alone(a)) return run_alone(a, c, x, packed, y);
  Tiles tiles = tiles_of(a, windows, packed);
  const bool nine = has_rows_of_nine(a);
  const int32_t count = a.out_h * a.out_w, behind = a.out_w * a.stride_w - a.pad_w, row_step = a.dilation_h * a.in_w * a.in_c;
  const auto place = [&](const DspPlace& p) { return c.image + (p.ih * a.in_w + p.iw) * a.in_c; };
  const auto is_inside = [&](const DspPlace& p) { return p.ih >= 0 && p.iw >= 0 && p.ih <= c.last_h && p.iw <= c.last_w; };
  for (int32_t n = 0; n < a.n; ++n, c.image += a.in_h * a.in_w * a.in_c) {
    DspPlace at{-a.pad_h, -a.pad_w};
    const auto next = [&] {
      at.iw += a.stride_w, y += a.y_step;
      if (at.iw == behind) at.iw = -a.pad_w, at.ih += a.stride_h, y += a.y_row - a.out_w * a.y_step;
    };
    for (int32_t i = 0; i < count; i += 2) {
      DspPlace places[kWindowsAtOnce] = {at, at, at, at};
      const bool two = i + 1 < count;
      int8_t *const y0 = y, *y1 = y;
      next();
      if (two) y1 = y, places[1] = at, next();
      if (nine && is_inside(places[0]) && is_inside(places[1]))
        deuteron_widen_nines_dsp(place(places[0]), place(places[1]), row_step, windows);
      else widen_all(c, places);
      tiles.run(y0, y1);
    }
  }
}

[[gnu::noinline]] void run_on_stack(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed, int8_t* y) {
  alignas(8) int16_t windows[kPackedStack];
  run(a, x, packed, windows, y);
}

}  // namespace

void packed_conv2d_s8_dsp(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed, void* scratch, int32_t scratch_bytes,
                          int8_t* y) {
  const int64_t bytes = packed_conv2d_scratch_bytes(a, Packing::dsp_4x4);
  if (bytes == 0 || scratch_bytes < bytes) run_on_stack(a, x, packed, y);
  else run(a, x, packed, static_cast<int16_t*>(scratch), y);
}

}  // namespace deuteron
