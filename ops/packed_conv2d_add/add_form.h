// SPDX-License-Identifier: Apache-2.0
// From the calls of deuteron::packed_conv2d and of deuteron::linear_add that reads its result to that of deuteron::packed_conv2d_add.
#pragma once
#include "ops/op.h"

namespace deuteron {

// Operands: that of the convolution, its packed weights, and the other one of the addition. `is_first`: the result of the convolution is
// the first operand of the addition.
Result<Lowered> with_addition(const KernelCall& convolution, const KernelCall& addition, bool is_first);

}  // namespace deuteron
