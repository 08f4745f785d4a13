// SPDX-License-Identifier: Apache-2.0
// As TFLite's reference computes them.
#include "npu/neutron/machine/kernel.h"

#include "npu/neutron/kernels/resize/call.h"

namespace deuteron::neutron {
namespace {

// The nearest element: float32, as in the reference, so that ties fall alike.
int32_t nearest(int32_t at, int32_t in, int32_t out, bool align_corners, bool half_pixel_centers) {
  const float scale = align_corners && out > 1
                          ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                          : static_cast<float>(in) / static_cast<float>(out);
  const float where = (static_cast<float>(at) + (half_pixel_centers ? 0.5f : 0.0f)) * scale;
  int32_t index = static_cast<int32_t>(where);  // where >= 0: towards zero is down
  if (align_corners && where - static_cast<float>(index) >= 0.5f) ++index;
  return index < in - 1 ? index : in - 1;
}

void resize_nearest(const ResizeCall& a, const Memory& memory) {
  const int8_t* x = memory.read(a.x);
  int8_t* y = memory.write(a.y);
  const bool corners = a.align_corners != 0, centers = a.half_pixel_centers != 0;
  for (int32_t n = 0; n < a.n; ++n, x += int64_t{a.h} * a.w * a.c)
    for (int32_t oh = 0; oh < a.out_h; ++oh) {
      const int8_t* row = x + int64_t{nearest(oh, a.h, a.out_h, corners, centers)} * a.w * a.c;
      for (int32_t ow = 0; ow < a.out_w; ++ow, y += a.c)
        std::memmove(y, row + int64_t{nearest(ow, a.w, a.out_w, corners, centers)} * a.c,
                     static_cast<size_t>(a.c));
    }
}

// Between which two elements a result lies, and how far from the first, in 1/1024.
struct Between {
  int32_t first, second, part;
};
constexpr int32_t kOne = 1 << 10;

Between between(int32_t at, int32_t in, int32_t out, bool align_corners, bool half_pixel_centers) {
  int32_t scale = (kOne * in + out / 2) / out;
  if (align_corners && out > 1) scale = (kOne * (in - 1) + (out - 1) / 2) / (out - 1);
  int32_t where = at * scale;
  if (half_pixel_centers) where += scale / 2 - kOne / 2;
  // Rounding `scale` up may lead past the end, where the reference reads what is not x.
  if (where > kOne * (in - 1) + kOne - 1) where = kOne * (in - 1) + kOne - 1;
  const int32_t first = where / kOne > 0 ? where / kOne : 0, second = (where + kOne - 1) / kOne;
  return {first, second < in - 1 ? second : in - 1, where - kOne * first};
}

void resize_bilinear(const ResizeCall& a, const Memory& memory) {
  const int8_t* x = memory.read(a.x);
  int8_t* y = memory.write(a.y);
  const bool corners = a.align_corners != 0, centers = a.half_pixel_centers != 0;
  constexpr int32_t kHalf = 1 << 19;
  for (int32_t n = 0; n < a.n; ++n, x += int64_t{a.h} * a.w * a.c)
    for (int32_t oh = 0; oh < a.out_h; ++oh) {
      const Between h = between(oh, a.h, a.out_h, corners, centers);
      const int8_t *top = x + int64_t{h.first} * a.w * a.c,
                   *bottom = x + int64_t{h.second} * a.w * a.c;
      for (int32_t ow = 0; ow < a.out_w; ++ow, y += a.c) {
        const Between w = between(ow, a.w, a.out_w, corners, centers);
        const int64_t left = int64_t{w.first} * a.c, right = int64_t{w.second} * a.c;
        for (int32_t c = 0; c < a.c; ++c) {
          const int32_t sum =
              (top[left + c] * (kOne - h.part) + bottom[left + c] * h.part) * (kOne - w.part) +
              (top[right + c] * (kOne - h.part) + bottom[right + c] * h.part) * w.part;
          y[c] = static_cast<int8_t>(
              clamp_to((sum + (sum > 0 ? kHalf : -kHalf)) / (1 << 20), -128, 127));
        }
      }
    }
}

}  // namespace
}  // namespace deuteron::neutron

DEUTERON_NEUTRON_KERNEL(ResizeNearest, resize_nearest(a, memory))
DEUTERON_NEUTRON_KERNEL(ResizeBilinear, resize_bilinear(a, memory))
