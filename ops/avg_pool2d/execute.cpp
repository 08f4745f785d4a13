// SPDX-License-Identifier: Apache-2.0
// Float execution of AvgPool2d.
#include <algorithm>

#include "ops/avg_pool2d/avg_pool2d.h"
#include "ops/op.h"

namespace deuteron {

// The window begins inside the padded image and is cut at its end; the image itself then cuts what
// is summed.
void execute(const AvgPool2d& a, std::span<const HostTensor> in, std::span<const HostTensor> out) {
  const Shape &x = in[0].type->shape, &y = out[0].type->shape;
  const i64 height = x[1], width = x[2], channels = x[3];
  float* to = out[0].data;
  for (i64 n = 0; n < y[0]; ++n)
    for (i64 oh = 0; oh < y[1]; ++oh)
      for (i64 ow = 0; ow < y[2]; ++ow, to += channels) {
        const i64 top = oh * a.stride.h - a.pad.h, left = ow * a.stride.w - a.pad.w;
        const i64 bottom = std::min(top + a.kernel.h, height + a.pad.h),
                  right = std::min(left + a.kernel.w, width + a.pad.w);
        const i64 h0 = std::max<i64>(top, 0), h1 = std::min(bottom, height),
                  w0 = std::max<i64>(left, 0), w1 = std::min(right, width);
        std::fill_n(to, channels, 0.0f);
        if (h0 >= h1 || w0 >= w1) continue;
        for (i64 h = h0; h < h1; ++h)
          for (i64 w = w0; w < w1; ++w) {
            const float* from = in[0].data + ((n * height + h) * width + w) * channels;
            for (i64 c = 0; c < channels; ++c) to[c] += from[c];
          }
        const i64 count = a.divisor != 0        ? a.divisor
                          : a.count_include_pad ? (bottom - top) * (right - left)
                                                : (h1 - h0) * (w1 - w0);
        for (i64 c = 0; c < channels; ++c) to[c] /= static_cast<float>(count);
      }
}

}  // namespace deuteron
