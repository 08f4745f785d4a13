// SPDX-License-Identifier: Apache-2.0
// Symmetric scales of weights.
#include <algorithm>
#include <cmath>

#include "compile/calibrate/calibrate.h"

namespace deuteron {

Quant weight_quant(std::span<const float> weight, const Shape& shape, i32 axis, i32 low, i32 high) {
  const i64 channels = axis < 0 ? 1 : shape[axis];
  const i64 inner = axis < 0 ? static_cast<i64>(weight.size())
                             : numel(std::span(shape).subspan(static_cast<size_t>(axis) + 1));
  std::vector<float> most(static_cast<size_t>(channels), 0.0f);
  for (i64 at = 0, c = 0; at < static_cast<i64>(weight.size()) && inner > 0;
       at += inner, c = (c + 1) % channels)
    for (i64 i = 0; i < inner; ++i) most[c] = std::max(most[c], std::abs(weight[at + i]));

  // A channel of zeros is exact at any scale: it takes the finest of the others', so that its bias
  // is as exact as theirs.
  const float half = static_cast<float>(high - low) / 2;
  float finest = 0;
  for (const float m : most)
    if (m > 0 && (finest == 0 || m < finest)) finest = m;
  if (finest == 0) finest = 1;
  Quant q;
  q.axis = axis < 0 ? -1 : axis;
  q.low = low, q.high = high;
  for (const float m : most) {
    q.scale.push_back(std::max((m > 0 ? m : finest) / half, kLeastScale));
    q.zero_point.push_back(0);
  }
  return q;
}

}  // namespace deuteron
