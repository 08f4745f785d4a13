// SPDX-License-Identifier: Apache-2.0
// How many axes the loops of an NPU's call need: neighbours that every operand walks through as one
// are one axis.
#pragma once
#include <optional>
#include <string_view>

#include "ops/npu.h"

namespace deuteron {

inline constexpr std::string_view kMergedAxes = "axes, after merging neighbours";

// Neighbours with the same key are one, and axes of extent 1 none. The last one is always by
// itself: there may be gaps behind it.
template <class Key>
i64 count_merged(const Shape& shape, Key&& key) {
  std::optional<i64> last;
  i64 count = shape.empty() ? 0 : 1;
  for (size_t axis = 0; axis + 1 < shape.size(); ++axis) {
    if (shape[axis] == 1) continue;
    const i64 k = key(axis);
    if (last != k) ++count;
    last = k;
  }
  return count;
}

// Of a result whose operands are repeated along some axes.
template <class T>
std::optional<i64> merged_axes(const T&, const NpuOperands& o) {
  const Shape& y = o.out[0].shape;
  return count_merged(y, [&](size_t axis) {
    i64 repeated = 0;
    for (size_t k = 0; k < o.in.size(); ++k) {
      const Shape& x = o.in[k].shape;
      const size_t missing = y.size() - x.size();
      if (axis < missing || x[axis - missing] == 1) repeated |= i64{1} << k;
    }
    return repeated;
  });
}

}  // namespace deuteron
