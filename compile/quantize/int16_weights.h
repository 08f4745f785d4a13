// SPDX-License-Identifier: Apache-2.0
// Steps of int16 weights: for each filter the finest with which no sum of its products leaves
// int32, whatever x is within its range.
#pragma once
#include <span>

#include "base/tensor/type.h"

namespace deuteron {

// weight [filters, ..]; x: the parameters of the operand, with its range of steps; bias by filter,
// or empty.
Quant int16_weight_quant(std::span<const float> weight, const Shape& shape, const Quant& x,
                         std::span<const float> bias);

}  // namespace deuteron
