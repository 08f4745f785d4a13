// SPDX-License-Identifier: Apache-2.0
// Float execution of LayerNorm; sums in double.
#include <cmath>

#include "ops/layer_norm/layer_norm.h"
#include "ops/op.h"

namespace deuteron {

void execute(const LayerNorm& a, std::span<const HostTensor> in, std::span<const HostTensor> out) {
  const Shape& shape = in[0].type->shape;
  const i64 columns = numel(std::span(shape).last(static_cast<size_t>(a.axes))),
            total = in[0].type->elements();
  for (i64 first = 0; first < total; first += columns) {
    const float* x = in[0].data + first;
    double sum = 0, squares = 0;
    for (i64 i = 0; i < columns; ++i) sum += x[i];
    const double mean = a.centered ? sum / static_cast<double>(columns) : 0;
    for (i64 i = 0; i < columns; ++i) squares += (x[i] - mean) * (x[i] - mean);
    const double factor =
        1 / std::sqrt(squares / static_cast<double>(columns) + static_cast<double>(a.epsilon));
    for (i64 i = 0; i < columns; ++i) {
      const double weight = in.size() > 1 ? in[1].data[i] : 1,
                   bias = in.size() > 2 ? in[2].data[i] : 0;
      out[0].data[first + i] = static_cast<float>((x[i] - mean) * factor * weight + bias);
    }
  }
}

}  // namespace deuteron
