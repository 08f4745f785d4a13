// SPDX-License-Identifier: Apache-2.0
// Functions that are steep where a tensor has most of its numbers: the logarithm of a power. Half
// of the first step of int8 is all that many of them reach, and a table has one entry for them.
#pragma once
#include <optional>

#include "compile/calibrate/calibrate.h"
#include "ops/all.h"

namespace deuteron {

// f(x) as f(max(x, c)), with c below half a step of x, so that the entry for zero is the mean of
// what was seen there. Nothing where x may be negative, f both rises and falls, or the entry would
// be the same to a step of y.
std::optional<Op> with_mean_at_zero(const Op& op, const Observation& x, const Observation& y,
                                    const Quant& of_x, const Quant& of_y);

}  // namespace deuteron
