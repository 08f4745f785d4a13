// SPDX-License-Identifier: Apache-2.0
// Portable bilinear resizing of bytes, element by element.
#include "kernels/resize2d/bytes/kernel.h"

#include <cstring>

namespace deuteron {
namespace {

// Between two elements of an axis.
struct Place {
  int32_t first, to_second;
  float weight, rest;  // of the second and of the first
};
Place place_of(const int32_t* entry, int32_t extent) {
  Place p{entry[0], 0, 0, 0};
  std::memcpy(&p.weight, entry + 1, sizeof p.weight);
  p.to_second = p.first == extent - 1 || p.weight < 0 ? 0 : 1;
  p.rest = 1 - p.weight;
  return p;
}

float byte_of(int8_t x) { return static_cast<float>(x + 128); }

}  // namespace

void resize2d_bytes(const Resize2dArgs& a, const int8_t* x, const int32_t* rows,
                    const int32_t* columns, int8_t* y) {
  const int32_t row_elements = a.in_w * a.channels;
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * row_elements)
    for (int32_t oh = 0; oh < a.out_h; ++oh) {
      const Place h = place_of(rows + 2 * oh, a.in_h);
      for (int32_t ow = 0; ow < a.out_w; ++ow, y += a.channels) {
        const Place w = place_of(columns + 2 * ow, a.in_w);
        const int8_t* top = x + h.first * row_elements + w.first * a.channels;
        const int8_t* bottom = top + h.to_second * row_elements;
        const int32_t right = w.to_second * a.channels;
        for (int32_t c = 0; c < a.channels; ++c) {
          float sum = byte_of(top[c]) * h.rest * w.rest;
          sum += byte_of(bottom[c]) * h.weight * w.rest;
          sum += byte_of(top[c + right]) * h.rest * w.weight;
          sum += byte_of(bottom[c + right]) * h.weight * w.weight;
          y[c] = static_cast<int8_t>(static_cast<int32_t>(sum + 0.5f) - 128);
        }
      }
    }
}

}  // namespace deuteron
