// SPDX-License-Identifier: Apache-2.0
// Slices of a tensor along some of its axes, brought to where layers and pools take them.
#pragma once
#include <algorithm>

#include "base/tensor/axes.h"
#include "ops/all.h"

namespace deuteron {

// x seen as [outer, slice, inner], which is a reshape when the reduced axes are neighbours.
struct Slices {
  i64 outer = 1, slice = 1, inner = 1;
  bool neighbours = true;
};
Slices slices_of(const Shape& x, const Axes& axes);

// Those of -x: step q becomes -1 - q, which loses nothing.
Quant mirrored(Quant quant);

// For whatever adds operators one by one, a FormBuilder or a PatchBuilder. x keeps its parameters.
ValueId slices_last(auto& b, ValueId x, const Axes& axes) {
  const Type type = b.type(x);
  Axes perm;
  for (size_t k = 0; k < type.shape.size(); ++k)
    if (std::find(axes.begin(), axes.end(), static_cast<i64>(k)) == axes.end())
      perm.push_back(static_cast<i64>(k));
  perm.insert(perm.end(), axes.begin(), axes.end());
  return is_identity(perm) ? x : b.add(Permute{perm}, {x}, type.quant);
}
ValueId viewed(auto& b, ValueId x, Shape shape) {
  const Type type = b.type(x);
  return type.shape == shape ? x : b.add(Reshape{std::move(shape)}, {x}, type.quant);
}

}  // namespace deuteron
