// SPDX-License-Identifier: Apache-2.0
// The call of a layer with packed weights: deuteron::packed_conv2d, and what it is called with
// shifts, behind a relu, with weights of four bits, and with an addition.
#pragma once
#include <string_view>

#include "ops/kernel_call/numbers.h"

namespace deuteron {

std::string_view name_of(Packing p);  // the overload

// Operands: x, and that of an addition. `weights`: a constant of the call; without them they are
// the operand after x, as they are of a call that is in a graph.
Lowered packed_call(PackedDense n, size_t operands, std::optional<std::vector<int8_t>> weights);

}  // namespace deuteron
