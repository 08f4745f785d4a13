// SPDX-License-Identifier: Apache-2.0
// A permute over as few axes as it needs: axes of one element are gone, and neighbours that stay
// together are one.
#pragma once
#include <cstddef>

#include "base/tensor/type.h"

namespace deuteron {

inline constexpr size_t kKernelAxes = 4;  // of cortex_m::transpose

struct CollapsedPermute {
  Shape shape;  // of the operand
  Axes perm;    // as many entries
};
CollapsedPermute collapse(const Shape& shape, const Axes& perm);

}  // namespace deuteron
