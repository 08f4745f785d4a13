// SPDX-License-Identifier: Apache-2.0
// Dense products over packed weights, tile by tile. A tile is some results for eight channels; each
// block of 8 channels x 8 lanes of weights is widened to 16 bits once for all results of the tile.
// An input without its zero point (-255..255) times a weight fits 16 bits, and the inner loop is
// eight products into eight sums, which compilers vectorise.
#pragma once
#include "npu/neutron/kernels/convolution/call.h"

namespace deuteron::neutron {

inline constexpr int32_t kTile = 16, kUnits = 8, kLanes = 8;

// The results of a tile: the image that each reads, and where its window starts.
struct Tile {
  int32_t count;
  const int8_t* image[kTile];
  int32_t top[kTile], left[kTile];
};

struct Weights {
  int16_t by_lane[kLanes][kUnits];
  void widen(const int8_t* block) {
    for (int32_t unit = 0; unit < kUnits; ++unit)
      for (int32_t lane = 0; lane < kLanes; ++lane)
        by_lane[lane][unit] = block[unit * kLanes + lane];
  }
};

inline void multiply_add(const int16_t (&x)[kLanes], const Weights& w, uint32_t (&sums)[kUnits]) {
  for (int32_t lane = 0; lane < kLanes; ++lane)
    for (int32_t unit = 0; unit < kUnits; ++unit)
      sums[unit] += static_cast<uint32_t>(x[lane] * w.by_lane[lane][unit]);
}

inline void load(const int8_t* from, int32_t lanes, int32_t zero, int16_t (&x)[kLanes]) {
  if (lanes >= kLanes) {
    for (int32_t lane = 0; lane < kLanes; ++lane) x[lane] = static_cast<int16_t>(from[lane] - zero);
    return;
  }
  for (int32_t lane = 0; lane < kLanes; ++lane)
    x[lane] = static_cast<int16_t>(lane < lanes ? from[lane] - zero : 0);
}

using Sums = uint32_t[kTile][kUnits];

// A tap of the window for all results: pixel[i] is what it meets, null outside. Returns whether it
// meets anything.
inline bool meet(const ConvCall& a, const Tile& tile, int32_t kh, int32_t kw, bool transposed,
                 const int8_t* (&pixel)[kTile]) {
  bool any = false;
  for (int32_t i = 0; i < tile.count; ++i) {
    int32_t ih = tile.top[i], iw = tile.left[i];
    bool inside = true;
    if (transposed) {  // top and left are the result's position plus the padding
      ih -= kh * a.dilation_h;
      iw -= kw * a.dilation_w;
      inside = ih >= 0 && iw >= 0 && ih % a.stride_h == 0 && iw % a.stride_w == 0;
      ih /= a.stride_h;
      iw /= a.stride_w;
    } else {
      ih += kh * a.dilation_h;
      iw += kw * a.dilation_w;
    }
    inside = inside && ih >= 0 && ih < a.h && iw >= 0 && iw < a.w;
    pixel[i] = inside ? tile.image[i] + (int64_t{ih} * a.w + iw) * a.x_pitch : nullptr;
    any = any || inside;
  }
  return any;
}

// Lanes over the channels of each tap.
inline void sum_by_channel(const ConvCall& a, const Tile& tile, const int8_t* weights,
                           bool transposed, Sums& sums) {
  const int8_t* pixel[kTile];
  const int32_t blocks = (a.c + kLanes - 1) / kLanes;
  for (int32_t kh = 0; kh < a.kernel_h; ++kh)
    for (int32_t kw = 0; kw < a.kernel_w; ++kw, weights += int64_t{blocks} * kUnits * kLanes) {
      if (!meet(a, tile, kh, kw, transposed, pixel)) continue;
      for (int32_t block = 0; block < blocks; ++block) {
        Weights w;
        w.widen(weights + int64_t{block} * kUnits * kLanes);
        const int32_t c = block * kLanes;
        for (int32_t i = 0; i < tile.count; ++i) {
          if (pixel[i] == nullptr) continue;
          int16_t x[kLanes];
          load(pixel[i] + c, a.c - c, a.x_zero, x);
          multiply_add(x, w, sums[i]);
        }
      }
    }
}

// Lanes over the columns and channels of each row of the window, which lie one behind the other in
// x when its pixels have no gaps.
inline void load_row(const ConvCall& a, const int8_t* row, int32_t left, int32_t first,
                     int16_t (&x)[kLanes]) {
  for (int32_t lane = 0; lane < kLanes; ++lane) {
    const int32_t at = first + lane, column = at / a.c;
    const int32_t iw = left + column;
    const bool inside = column < a.kernel_w && iw >= 0 && iw < a.w;
    x[lane] = static_cast<int16_t>(
        inside ? row[int64_t{iw} * a.x_pitch + (at - column * a.c)] - a.x_zero : 0);
  }
}

inline void sum_by_row(const ConvCall& a, const Tile& tile, const int8_t* weights, Sums& sums) {
  const int32_t length = a.kernel_w * a.c, blocks = (length + kLanes - 1) / kLanes;
  for (int32_t kh = 0; kh < a.kernel_h; ++kh)
    for (int32_t block = 0; block < blocks; ++block, weights += kUnits * kLanes) {
      Weights w;
      w.widen(weights);
      const int32_t first = block * kLanes;
      for (int32_t i = 0; i < tile.count; ++i) {
        const int32_t ih = tile.top[i] + kh * a.dilation_h;
        if (ih < 0 || ih >= a.h) continue;
        const int8_t* row = tile.image[i] + int64_t{ih} * a.w * a.x_pitch;
        int16_t x[kLanes];
        const bool whole =
            a.x_pitch == a.c && tile.left[i] >= 0 && tile.left[i] + a.kernel_w <= a.w;
        if (whole) load(row + int64_t{tile.left[i]} * a.c + first, length - first, a.x_zero, x);
        else load_row(a, row, tile.left[i], first, x);
        multiply_add(x, w, sums[i]);
      }
    }
}

inline void sum(Kind kind, const ConvCall& a, const Tile& tile, const int8_t* weights, Sums& sums) {
  if (kind == Kind::kConv2DStandardV2) sum_by_row(a, tile, weights, sums);
  else sum_by_channel(a, tile, weights, kind == Kind::kConv2DTransposed, sums);
}

}  // namespace deuteron::neutron
