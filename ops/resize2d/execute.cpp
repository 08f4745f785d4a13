// SPDX-License-Identifier: Apache-2.0
// Float execution of Resize2d.
#include <algorithm>

#include "ops/op.h"
#include "ops/resize2d/resize2d.h"

namespace deuteron {

static void nearest(const Resize2d& a, const Shape& x, const float* from, float* to) {
  const Axes rows = nearest_sources(a, x[1], a.size.h),
             columns = nearest_sources(a, x[2], a.size.w);
  for (i64 n = 0; n < x[0]; ++n)
    for (const i64 h : rows)
      for (const i64 w : columns)
        to = std::copy_n(from + ((n * x[1] + h) * x[2] + w) * x[3], x[3], to);
}

static void bilinear(const Resize2d& a, const Shape& x, const float* from, float* to) {
  const std::vector<ResizedElement> rows = sources_of(a, x[1], a.size.h),
                                    columns = sources_of(a, x[2], a.size.w);
  for (i64 n = 0; n < x[0]; ++n)
    for (const ResizedElement& h : rows)
      for (const ResizedElement& w : columns) {
        const auto pixel = [&](i64 row, i64 column) {
          return from + ((n * x[1] + row) * x[2] + column) * x[3];
        };
        const float *top_left = pixel(h.first, w.first), *top_right = pixel(h.first, w.second);
        const float *left = pixel(h.second, w.first), *right = pixel(h.second, w.second);
        for (i64 c = 0; c < x[3]; ++c) {
          const float top = (1 - w.weight) * top_left[c] + w.weight * top_right[c];
          const float bottom = (1 - w.weight) * left[c] + w.weight * right[c];
          *to++ = (1 - h.weight) * top + h.weight * bottom;
        }
      }
}

void execute(const Resize2d& a, std::span<const HostTensor> in, std::span<const HostTensor> out) {
  (a.mode == Resize2d::kNearest ? nearest : bilinear)(a, in[0].type->shape, in[0].data,
                                                      out[0].data);
}

}  // namespace deuteron
