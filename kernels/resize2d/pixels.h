// SPDX-License-Identifier: Apache-2.0
// The result's pixels one after the other, each with its neighbours and what each of them weighs:
// what the kernels of all instruction sets have in common.
#pragma once
#include "kernels/resize2d/kernel.h"

namespace deuteron {

// Products of two weights; together 2^(2 * kResizeBits).
struct PixelWeights {
  int32_t top_left, top_right, left, right;
};

// pixel(top, bottom, to_right, weights, y): rows of x at the left neighbours, elements from there
// to the right ones.
template <class T, class Pixel>
inline void each_pixel(const Resize2dArgs& a, const T* x, const int32_t* rows,
                       const int32_t* columns, T* y, Pixel pixel) {
  constexpr int32_t kOne = 1 << kResizeBits;
  const int32_t row_elements = a.in_w * a.channels;
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * row_elements)
    for (int32_t oh = 0; oh < a.out_h; ++oh) {
      const int32_t h = rows[2 * oh + 1];
      const T* row = x + rows[2 * oh] * row_elements;
      const T* below = h != 0 ? row + row_elements : row;
      for (int32_t ow = 0; ow < a.out_w; ++ow, y += a.channels) {
        const int32_t at = columns[2 * ow] * a.channels, w = columns[2 * ow + 1];
        const PixelWeights weights{(kOne - h) * (kOne - w), (kOne - h) * w, h * (kOne - w), h * w};
        pixel(row + at, below + at, w != 0 ? a.channels : 0, weights, y);
      }
    }
}

}  // namespace deuteron
