// SPDX-License-Identifier: Apache-2.0
// Operators whose results have as many elements as the elements of an operand say: with constants
// there, the sizes are known.
#pragma once
#include <vector>

#include "frontends/pt2/call/call.h"

namespace deuteron::pt2 {

// Where the elements of a tensor are not 0, in their order: a list of positions for each of its
// axes.
std::vector<Axes> places_not_zero(const Shape& shape, const std::vector<float>& elements);

// An index's tables (-1: none) with a table of positions for each axis of a mask instead of the
// mask. Refuses masks that are computed from inputs.
std::vector<ValueId> without_masks(Call& c, std::vector<ValueId> tables);

// A result of no elements.
ValueId nothing(Call& c, DType dtype, Shape shape);

}  // namespace deuteron::pt2
