// SPDX-License-Identifier: Apache-2.0
#include "base/tensor/axes.h"

namespace deuteron {

bool is_identity(const Axes& perm) {
  for (size_t k = 0; k < perm.size(); ++k)
    if (perm[k] != static_cast<i64>(k)) return false;
  return true;
}

Axes inverse(const Axes& perm) {
  Axes result(perm.size());
  for (size_t k = 0; k < perm.size(); ++k) result[perm[k]] = static_cast<i64>(k);
  return result;
}

bool moves_nothing(const Axes& perm, const Shape& shape) {
  i64 last = -1;
  for (const i64 axis : perm) {
    if (shape[axis] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

Shape permuted(const Shape& shape, const Axes& perm) {
  Shape result(perm.size());
  for (size_t k = 0; k < perm.size(); ++k) result[k] = shape[perm[k]];
  return result;
}

}  // namespace deuteron
