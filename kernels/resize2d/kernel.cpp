// SPDX-License-Identifier: Apache-2.0
// Portable bilinear resizing, element by element.
#include "kernels/resize2d/kernel.h"

#include "kernels/resize2d/pixels.h"

namespace deuteron {

namespace {

// All channels of a pixel: by itself, so that the four weights stay in registers.
[[gnu::noinline]] void blend_pixel(int32_t channels, const int8_t* top, const int8_t* bottom,
                                   int32_t to_right, const PixelWeights& weights, int8_t* y) {
  constexpr int32_t kHalf = 1 << (2 * kResizeBits - 1);
  const PixelWeights w = weights;
  for (const int8_t* const end = y + channels; y != end; ++top, ++bottom) {
    int32_t sum = top[to_right] * w.top_right + bottom[to_right] * w.right;
    sum += *top * w.top_left, sum += *bottom * w.left;
    *y++ = static_cast<int8_t>((sum + (sum >> 31) + kHalf) >> (2 * kResizeBits));
  }
}

}  // namespace

void resize2d_s8(const Resize2dArgs& a, const int8_t* x, const int32_t* rows,
                 const int32_t* columns, int8_t* y) {
  each_pixel(a, x, rows, columns, y,
             [&a](const int8_t* top, const int8_t* bottom, int32_t to_right, const PixelWeights& w,
                  int8_t* to) { blend_pixel(a.channels, top, bottom, to_right, w, to); });
}

}  // namespace deuteron
