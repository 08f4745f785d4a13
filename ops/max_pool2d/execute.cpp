// SPDX-License-Identifier: Apache-2.0
// Float execution of MaxPool2d.
#include <algorithm>
#include <cmath>

#include "ops/common/elementwise.h"
#include "ops/max_pool2d/max_pool2d.h"
#include "ops/op.h"

namespace deuteron {

// NaN wins, as in PyTorch.
void execute(const MaxPool2d& a, std::span<const HostTensor> in, std::span<const HostTensor> out) {
  const Shape &x = in[0].type->shape, &y = out[0].type->shape;
  const i64 height = x[1], width = x[2], channels = x[3];
  float* to = out[0].data;
  for (i64 n = 0; n < y[0]; ++n)
    for (i64 oh = 0; oh < y[1]; ++oh)
      for (i64 ow = 0; ow < y[2]; ++ow, to += channels) {
        std::fill_n(to, channels, -std::numeric_limits<float>::infinity());
        for (i64 kh = 0; kh < a.kernel.h; ++kh)
          for (i64 kw = 0; kw < a.kernel.w; ++kw) {
            const i64 h = oh * a.stride.h - a.pad.h + kh * a.dilation.h,
                      w = ow * a.stride.w - a.pad.w + kw * a.dilation.w;
            if (h < 0 || h >= height || w < 0 || w >= width) continue;
            const float* from = in[0].data + ((n * height + h) * width + w) * channels;
            for (i64 c = 0; c < channels; ++c)
              to[c] = !(from[c] <= to[c]) && !std::isnan(to[c]) ? from[c] : to[c];
          }
      }
  apply_bounds(a.bounds, {out[0].data, static_cast<size_t>(out[0].type->elements())});
}

}  // namespace deuteron
