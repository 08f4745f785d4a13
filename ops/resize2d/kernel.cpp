// Portable bilinear resizing, element by element.
#include "ops/resize2d/kernel.h"

#include "ops/resize2d/pixels.h"

namespace deuteron {

void resize2d_s8(const Resize2dArgs& a, const int8_t* x, const int32_t* rows, const int32_t* columns, int8_t* y) {
  constexpr int32_t kHalf = 1 << (2 * kResizeBits - 1);
  each_pixel(a, x, rows, columns, y, [&a](const int8_t* top, const int8_t* bottom, int32_t to_right, const PixelWeights& w, int8_t* to) {
    for (int32_t c = 0; c < a.channels; ++c) {
      const int32_t sum = top[c] * w.top_left + top[c + to_right] * w.top_right + bottom[c] * w.left + bottom[c + to_right] * w.right;
      to[c] = static_cast<int8_t>((sum + kHalf - (sum < 0 ? 1 : 0)) >> (2 * kResizeBits));
    }
  });
}

}  // namespace deuteron
