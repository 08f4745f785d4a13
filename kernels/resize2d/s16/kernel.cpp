// SPDX-License-Identifier: Apache-2.0
// Portable bilinear resizing on int16, element by element.
#include "kernels/resize2d/s16/kernel.h"

#include "kernels/resize2d/pixels.h"

namespace deuteron {

void resize2d_s16(const Resize2dArgs& a, const int16_t* x, const int32_t* rows,
                  const int32_t* columns, int16_t* y) {
  constexpr int64_t kHalf = int64_t{1} << (2 * kResizeBits - 1);
  each_pixel(a, x, rows, columns, y,
             [&a](const int16_t* top, const int16_t* bottom, int32_t to_right,
                  const PixelWeights& w, int16_t* to) {
               for (int32_t c = 0; c < a.channels; ++c) {
                 const int64_t sum =
                     int64_t{top[c]} * w.top_left + int64_t{top[c + to_right]} * w.top_right +
                     int64_t{bottom[c]} * w.left + int64_t{bottom[c + to_right]} * w.right;
                 to[c] =
                     static_cast<int16_t>((sum + kHalf - (sum < 0 ? 1 : 0)) >> (2 * kResizeBits));
               }
             });
}

}  // namespace deuteron
