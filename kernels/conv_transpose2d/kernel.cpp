// SPDX-License-Identifier: Apache-2.0
// Portable transposed convolution, gathered: for one output pixel the taps that reach it are those
// with the right remainder by the stride, and each reads one input pixel. No sum is stored between
// pixels.
#include "kernels/conv_transpose2d/kernel.h"

#include "kernels/dense/dot_s8.h"

namespace deuteron {
namespace {

// The taps first, first + stride, .. < end of one axis that reach an output position from inside
// the input.
struct Reach {
  int32_t first, end;
};

// `at` is the output position plus the padding; tap k reads the input at (at - k) / stride.
Reach taps_reaching(int32_t at, int32_t kernel, int32_t stride, int32_t extent) {
  const int32_t end = at + 1 < kernel ? at + 1 : kernel;
  int32_t first = at % stride;
  // tap `beyond` would read the element behind the last
  const int32_t beyond = at - extent * stride;
  if (beyond >= first) first = beyond + stride;
  return {first, end};
}

void place_filters(const ConvTranspose2dArgs& a, const int8_t* image, const int8_t* weight,
                   const int32_t* bias, int32_t at_h, int32_t at_w, int8_t* y) {
  const Reach h = taps_reaching(at_h, a.kernel_h, a.stride_h, a.in_h),
              w = taps_reaching(at_w, a.kernel_w, a.stride_w, a.in_w);
  const int32_t length = a.kernel_h * a.kernel_w * a.in_c;
  int16_t row[kWidened];
  uint32_t sums[kSums];
  for (int32_t oc = 0; oc < a.out_c; oc += kSums) {
    const int32_t count = a.out_c - oc < kSums ? a.out_c - oc : kSums;
    for (int32_t i = 0; i < count; ++i) sums[i] = bias ? static_cast<uint32_t>(bias[oc + i]) : 0;
    for (int32_t kh = h.first; kh < h.end; kh += a.stride_h)
      for (int32_t kw = w.first; kw < w.end; kw += a.stride_w) {
        const int8_t* from =
            image + ((at_h - kh) / a.stride_h * a.in_w + (at_w - kw) / a.stride_w) * a.in_c;
        const int8_t* filters = weight + oc * length + (kh * a.kernel_w + kw) * a.in_c;
        for (int32_t c = 0; c < a.in_c; c += kWidened) {
          const int32_t elements = a.in_c - c < kWidened ? a.in_c - c : kWidened;
          widen_s8(from + c, elements, a.x_offset, row);
          add_dot_products(row, elements, filters + c, length, count, sums);
        }
      }
    for (int32_t i = 0; i < count; ++i)
      y[oc + i] = requantize_to_s8(sums[i], a.multiplier[oc + i], a.shift[oc + i], a.y_zero,
                                   a.y_min, a.y_max);
  }
}

}  // namespace

void conv_transpose2d_s8(const ConvTranspose2dArgs& a, const int8_t* x, const int8_t* weight,
                         const int32_t* bias, int8_t* y) {
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * a.in_w * a.in_c)
    for (int32_t oh = 0; oh < a.out_h; ++oh)
      for (int32_t ow = 0; ow < a.out_w; ++ow, y += a.out_c)
        place_filters(a, x, weight, bias, oh + a.pad_h, ow + a.pad_w, y);
}

}  // namespace deuteron
