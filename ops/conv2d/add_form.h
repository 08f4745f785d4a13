// SPDX-License-Identifier: Apache-2.0
// A layer with packed weights, and the addition of another tensor to its result, in one call.
#pragma once
#include "ops/kernel_call/numbers.h"

namespace deuteron {

// Whether there is a kernel with an addition beside that of such a call.
bool takes_addition(const PackedDense& n);

// The numbers of that call; takes_addition(convolution). `is_first`: the result of the convolution
// is the first operand of the addition.
Result<PackedDense> with_addition(PackedDense convolution, LinearForm addition, bool is_first);

}  // namespace deuteron
