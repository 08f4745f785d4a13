// SPDX-License-Identifier: Apache-2.0
// Convolution with packed weights for the DSP extension: two windows at a time are widened side by
// side, without an offset, and meet all filters, four by four, as a single window does.
#pragma once
#include <cstring>
#include <type_traits>

#include "kernels/conv2d/packed/kernel.h"
#include "kernels/conv2d/windows_dsp.h"
#include "kernels/dense/packed_dsp.h"

namespace deuteron {

using Two = std::integral_constant<int32_t, 2>;
using TwoWindows = DspWindows<Two>;

inline int32_t quads_of(const PackedConv2dArgs& a) {
  return (a.length() + kPackedQuad - 1) / kPackedQuad;
}
inline int32_t tile_bytes(const PackedConv2dArgs& a) {
  return quads_of(a) * kPackedQuad * kPackedTile + kTileNumbers;
}

inline Conv2dArgs plain_args(const PackedConv2dArgs& a) {
  Conv2dArgs c{};
  c.n = a.n, c.in_h = a.in_h, c.in_w = a.in_w, c.in_c = c.kernel_c = a.in_c;
  c.out_h = a.out_h, c.out_w = a.out_w, c.out_c = a.out_c, c.kernel_h = a.kernel_h,
  c.kernel_w = a.kernel_w;
  c.stride_h = a.stride_h, c.stride_w = a.stride_w, c.pad_h = a.pad_h, c.pad_w = a.pad_w;
  c.dilation_h = a.dilation_h, c.dilation_w = a.dilation_w;
  c.x_offset = -a.x_zero, c.y_zero = a.y_zero, c.y_min = -128, c.y_max = 127;
  return c;
}

// All filters against two widened windows: whole tiles, and one that overlaps the last of them.
// `loop`: of those without shifts, or with.
using PackedLoopDsp = void(const DspPackedWindows*);
template <PackedLoopDsp loop>
struct PackedTilesDsp {
  DspPackedWindows whole, rest;
  int32_t rest_at;  // the first filter of the rest; 0: there is none

  void run(int8_t* y0, int8_t* y1) {
    whole.y0 = y0, whole.y1 = y1;
    loop(&whole);
    if (rest_at == 0) return;
    rest.y0 = y0 + rest_at, rest.y1 = y1 + rest_at;
    loop(&rest);
  }
};

template <PackedLoopDsp loop>
PackedTilesDsp<loop> tiles_of(const PackedConv2dArgs& a, const int16_t* windows,
                              const int8_t* packed) {
  const int8_t* const end = packed + a.out_c / kPackedTile * tile_bytes(a);
  const int32_t quads = quads_of(a);
  const int32_t whole = a.out_c / kPackedTile,
                rest_at = a.out_c % kPackedTile == 0 ? 0 : a.out_c - kPackedTile;
  const int8_t* const shifts = end + (rest_at == 0 ? 0 : tile_bytes(a));
  return {{windows, quads, packed, end, nullptr, nullptr, a.y_zero, shifts},
          {windows, quads, end, end + tile_bytes(a), nullptr, nullptr, a.y_zero,
           shifts + whole * kShiftsBytes},
          rest_at};
}

// All filters against one, of whose quads the last ones may be left out.
inline void run_window(const PackedConv2dArgs& a, const int16_t* window, int32_t quads,
                       const int8_t* packed, int8_t* y) {
  const int32_t bytes = tile_bytes(a), whole = a.out_c / kPackedTile,
                left_out = (quads_of(a) - quads) * kPackedQuad * kPackedTile;
  const int8_t *const end = packed + whole * bytes, *const behind =
                                                        packed + packed_tiles(a.out_c) * bytes;
  DspPackedWindow w{window,  quads, packed, end, y, a.y_zero, a.has_shifts ? behind : nullptr,
                    left_out};
  if (whole > 0) deuteron_packed_window_dsp(&w);
  if (end == behind) return;
  int8_t out[kPackedTile];  // of the tile that overlaps its neighbour, or has fewer filters
  w.packed = end, w.packed_end = behind, w.y = out;
  if (a.has_shifts) w.shifts += whole * kShiftsBytes;
  deuteron_packed_window_dsp(&w);
  if (whole > 0) std::memcpy(y + a.out_c - kPackedTile, out, kPackedTile);
  else std::memcpy(y, out, static_cast<size_t>(a.out_c));
}

// One window, which lies in x as it is wanted: its quads, and what is left behind them.
inline void widen_window(const PackedConv2dArgs& a, const int8_t* x, uint32_t offset,
                         int16_t* window) {
  const int32_t length = a.length(), rest = length % kPackedQuad;
  int16_t* to = deuteron_widen_dsp(x, length / kPackedQuad, window, offset, 1);
  if (rest == 0) return;
  int8_t quad[kPackedQuad];
  rest_of_window(x, length, rest, a.x_zero, quad);
  deuteron_widen_dsp(quad, 1, to, offset, 1);
}

inline void run_alone(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                      int16_t* window, int8_t* y) {
  widen_window(a, x, 0, window);
  run_window(a, window, quads_of(a), packed, y);
}

// Every pixel of whole quads is a window.
inline bool are_pixels(const PackedConv2dArgs& a) {
  return packed_conv2d_is_in_one_piece(a) && a.kernel_w == 1 && a.stride_h == 1 &&
         a.stride_w == 1 && a.out_h == a.in_h && a.out_w == a.in_w && a.in_c % kPackedQuad == 0 &&
         packed_conv2d_is_one_row(a);
}
template <PackedLoopDsp loop>
void run_pixels(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed, int16_t* windows,
                int8_t* y) {
  PackedTilesDsp<loop> tiles = tiles_of<loop>(a, windows, packed);
  const int32_t quads = quads_of(a), in_c = a.in_c, y_step = a.y_step;
  for (int32_t left = a.n * a.out_h * a.out_w; left > 0;
       left -= 2, x += 2 * in_c, y += 2 * y_step) {
    const bool two = left > 1;
    deuteron_widen_two_dsp(x, two ? x + in_c : x, quads, windows, 0);
    tiles.run(y, two ? y + y_step : y);
  }
}

// TapRowsDsp of taps that can be widened where they lie in x: of whole quads, or three of nine
// bytes, as those of 3x3 over three channels.
struct TapRowsDsp {
  bool are_whole, are_nines;
  int32_t quads, step;  // of a row; bytes from a row to the next
};

inline TapRowsDsp rows_of(const PackedConv2dArgs& a, const TwoWindows& c) {
  const bool nines = a.kernel_h == 3 && c.row == 9;
  return {nines || (c.row > 0 && c.row % kDspQuad == 0), nines, c.row / kDspQuad,
          a.dilation_h * a.in_w * a.in_c};
}

inline bool is_inside(const TwoWindows& c, const DspPlace& p) {
  return p.ih >= 0 && p.iw >= 0 && p.ih <= c.last_h && p.iw <= c.last_w;
}

inline void widen_rows(const TwoWindows& c, const TapRowsDsp& rows, const DspPlace& p0,
                       const DspPlace& p1) {
  const int8_t *x0 = c.image + (p0.ih * c.a.in_w + p0.iw) * c.a.in_c,
               *x1 = c.image + (p1.ih * c.a.in_w + p1.iw) * c.a.in_c;
  if (rows.are_nines) return deuteron_widen_nines_dsp(x0, x1, rows.step, c.windows);
  int16_t* to = c.windows;
  for (int32_t kh = c.a.kernel_h; kh > 0; --kh, x0 += rows.step, x1 += rows.step)
    to = deuteron_widen_two_dsp(x0, x1, rows.quads, to, 0);
}

// Windows two at a time.
template <PackedLoopDsp loop>
void run_windows(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed, int16_t* windows,
                 int8_t* y) {
  if (are_pixels(a)) return run_pixels<loop>(a, x, packed, windows, y);
  const Conv2dArgs plain = plain_args(a);
  TwoWindows c = windows_of(plain, x, windows, Two(), 0, static_cast<int16_t>(a.x_zero));
  PackedTilesDsp<loop> tiles = tiles_of<loop>(a, windows, packed);
  const TapRowsDsp rows = rows_of(a, c);
  const int32_t count = a.out_h * a.out_w, behind = a.out_w * a.stride_w - a.pad_w;
  for (int32_t n = 0; n < a.n; ++n, c.image += a.in_h * a.in_w * a.in_c) {
    DspPlace at{-a.pad_h, -a.pad_w};
    const auto next = [&] {
      at.iw += a.stride_w, y += a.y_step;
      if (at.iw == behind) at.iw = -a.pad_w, at.ih += a.stride_h, y += a.y_row - a.out_w * a.y_step;
    };
    for (int32_t left = count; left > 0; left -= 2) {
      const DspPlace p0 = at;
      DspPlace p1 = at;
      int8_t *const y0 = y, *y1 = y;
      next();
      if (left > 1) y1 = y, p1 = at, next();
      if (rows.are_whole && is_inside(c, p0) && is_inside(c, p1)) widen_rows(c, rows, p0, p1);
      else widen_all(c, {p0, p1, p1, p1});
      tiles.run(y0, y1);
    }
  }
}

using Run = void (*)(const PackedConv2dArgs&, const int8_t* x, const int8_t* packed,
                     int16_t* windows, int8_t* y);

template <Run run>
[[gnu::noinline]] void run_on_stack(const PackedConv2dArgs& a, const int8_t* x,
                                    const int8_t* packed, int8_t* y) {
  alignas(8) int16_t windows[kPackedStack];
  run(a, x, packed, windows, y);
}
// In the scratch, where its windows fit.
template <Run run>
void run_in(void* scratch, bool fits, const PackedConv2dArgs& a, const int8_t* x,
            const int8_t* packed, int8_t* y) {
  if (fits) run(a, x, packed, static_cast<int16_t*>(scratch), y);
  else run_on_stack<run>(a, x, packed, y);
}

}  // namespace deuteron
