// SPDX-License-Identifier: Apache-2.0
// Float execution of Softmax.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/op.h"
#include "ops/softmax/softmax.h"

namespace deuteron {

void execute(const Softmax& a, std::span<const HostTensor> in, std::span<const HostTensor> out) {
  const Shape& shape = out[0].type->shape;
  if (shape.empty()) {  // one element
    out[0].data[0] = std::exp(in[0].data[0] - in[0].data[0]);
    return;
  }
  const i64 extent = shape[a.axis];
  const i64 inner = numel(std::span(shape).subspan(static_cast<size_t>(a.axis) + 1));
  const i64 rows = out[0].type->elements() == 0 ? 0 : out[0].type->elements() / extent;
  for (i64 row = 0; row < rows; ++row) {
    const i64 at = row / inner * extent * inner + row % inner;
    const float* x = in[0].data + at;
    float* y = out[0].data + at;
    float most = -std::numeric_limits<float>::infinity();
    for (i64 k = 0; k < extent; ++k)
      most = x[k * inner] > most || std::isnan(x[k * inner]) ? x[k * inner] : most;
    float sum = 0;
    for (i64 k = 0; k < extent; ++k) sum += y[k * inner] = std::exp((x[k * inner] - most) * a.beta);
    for (i64 k = 0; k < extent; ++k) y[k * inner] /= sum;
  }
}

}  // namespace deuteron
