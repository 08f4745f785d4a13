// SPDX-License-Identifier: Apache-2.0
// Orders of axes: axis k of the result is axis perm[k] of the operand.
#pragma once
#include "base/tensor/type.h"

namespace deuteron {

bool is_identity(const Axes& perm);
Axes inverse(const Axes& perm);
// True when `perm` keeps the order of all axes of more than one element: then it moves nothing.
bool moves_nothing(const Axes& perm, const Shape& shape);
Shape permuted(const Shape& shape, const Axes& perm);

}  // namespace deuteron
