// SPDX-License-Identifier: Apache-2.0
// A fully connected layer whose sums are rounded once (kernel.h), for what lowers one.
#pragma once
#include <optional>

#include "ops/integer/bounds.h"
#include "ops/op.h"

namespace deuteron {

// The call of deuteron::linear_once in the place of a layer with x, constant weight [outputs,inputs] and bias, or [outputs,1,1,inputs].
// Nothing where there is no such call: for stock firmware, with a bias that is computed, and beyond the kernel's limits.
std::optional<Lowered> linear_once_form(const LowerContext& c, const StepRange& range);

}  // namespace deuteron
