// SPDX-License-Identifier: Apache-2.0
// Float execution of ConvTranspose2d.
#include <algorithm>

#include "ops/common/elementwise.h"
#include "ops/conv_transpose2d/conv_transpose2d.h"
#include "ops/op.h"

namespace deuteron {

void execute(const ConvTranspose2d& a, std::span<const HostTensor> in,
             std::span<const HostTensor> out) {
  const Shape &x = in[0].type->shape, &w = in[1].type->shape, &y = out[0].type->shape;
  const i64 oc = w[0], kh = w[1], kw = w[2], cg = w[3], per_group = oc / a.groups;
  for (i64 p = 0; p < y[0] * y[1] * y[2]; ++p)
    for (i64 o = 0; o < oc; ++o) out[0].data[p * oc + o] = in.size() > 2 ? in[2].data[o] : 0.0f;
  for (i64 n = 0; n < x[0]; ++n)
    for (i64 ih = 0; ih < x[1]; ++ih)
      for (i64 iw = 0; iw < x[2]; ++iw) {
        const float* pixel = in[0].data + ((n * x[1] + ih) * x[2] + iw) * x[3];
        for (i64 h = 0; h < kh; ++h)
          for (i64 k = 0; k < kw; ++k) {
            const i64 oh = ih * a.stride.h + h * a.dilation.h - a.pad.h,
                      ow = iw * a.stride.w + k * a.dilation.w - a.pad.w;
            if (oh < 0 || oh >= y[1] || ow < 0 || ow >= y[2]) continue;
            float* to = out[0].data + ((n * y[1] + oh) * y[2] + ow) * oc;
            for (i64 o = 0; o < oc; ++o) {
              const float *filter = in[1].data + ((o * kh + h) * kw + k) * cg,
                          *from = pixel + o / per_group * cg;
              float sum = 0;
              for (i64 c = 0; c < cg; ++c) sum += from[c] * filter[c];
              to[o] += sum;
            }
          }
      }
  apply_bounds(a.bounds, {out[0].data, static_cast<size_t>(out[0].type->elements())});
}

}  // namespace deuteron
