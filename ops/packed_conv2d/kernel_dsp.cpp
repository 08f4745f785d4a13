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

// All filters against two widened windows.
void run_windows(const PackedConv2dArgs& a, const int16_t* windows, const int8_t* packed, int8_t* y0, int8_t* y1) {
  const int32_t tiles = a.out_c / kPackedTile, whole = tiles * tile_bytes(a);
  DspPackedWindows w{windows, quads_of(a), packed, packed + whole, y0, y1, a.y_zero};
  deuteron_packed_windows_dsp(&w);
  const int32_t rest = a.out_c % kPackedTile;
  if (rest == 0) return;
  w.packed += whole, w.packed_end += tile_bytes(a);
  w.y0 += a.out_c - kPackedTile, w.y1 += a.out_c - kPackedTile;
  deuteron_packed_windows_dsp(&w);
}

// All filters against one.
void run_window(const PackedConv2dArgs& a, const int16_t* window, const int8_t* packed, int8_t* y) {
  const int32_t pairs = a.out_c / (2 * kPackedTile), left = packed_tiles(a.out_c) - 2 * pairs;
  DspPackedWindow w{window, quads_of(a), packed, y, pairs, tile_bytes(a), a.y_zero};
  if (pairs > 0) deuteron_packed_window_dsp(&w);
  if (left == 0) return;
  int8_t out[2 * kPackedTile];  // of one tile, or of two that overlap
  w.packed += 2 * pairs * w.second;
  w.y = out, w.pairs = 1;
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

void run(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed, int16_t* windows, int8_t* y) {
  const Conv2dArgs plain = plain_args(a);
  DspWindows c = windows_of(plain, x, windows, 2, 0, static_cast<int16_t>(a.x_zero));
  if (packed_conv2d_is_alone(a)) return run_alone(a, c, x, packed, y);
  const int32_t count = a.out_h * a.out_w, behind = a.out_w * a.stride_w - a.pad_w;
  for (int32_t n = 0; n < a.n; ++n, c.image += a.in_h * a.in_w * a.in_c) {
    DspPlace at{-a.pad_h, -a.pad_w};
    const auto next = [&] {
      at.iw += a.stride_w;
      if (at.iw == behind) at.iw = -a.pad_w, at.ih += a.stride_h;
    };
    for (int32_t i = 0; i < count; i += 2) {
      DspPlace places[kWindowsAtOnce] = {at, at, at, at};
      const bool two = i + 1 < count;
      next();
      if (two) places[1] = at, next();
      widen_all(c, places);
      run_windows(a, windows, packed, y, two ? y + a.out_c : y);
      y += two ? 2 * a.out_c : a.out_c;
    }
  }
}

[[gnu::noinline]] void run_on_stack(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed, int8_t* y) {
  alignas(8) int16_t windows[kPackedStack];
  run(a, x, packed, windows, y);
}

}  // namespace

void packed_conv2d_s8_dsp(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed, void* scratch, int8_t* y) {
  if (packed_conv2d_scratch_bytes(a, Packing::dsp_4x4) == 0) run_on_stack(a, x, packed, y);
  else run(a, x, packed, static_cast<int16_t*>(scratch), y);
}

}  // namespace deuteron
