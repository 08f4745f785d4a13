// SPDX-License-Identifier: Apache-2.0
// A fully connected layer whose sums are rounded once (kernel.h), for what lowers one.
#pragma once
#include <optional>

#include "ops/kernel_call/numbers.h"

namespace deuteron {

// The call of deuteron::linear_once in the place of a layer of rows. Nothing where there is no such
// call: for stock firmware, and beyond the kernel's limits.
std::optional<Lowered> linear_once_form(const LowerContext& c, DenseNumbers n);

}  // namespace deuteron
