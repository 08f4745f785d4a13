// SPDX-License-Identifier: Apache-2.0
// Sums of two int16 operands, each times a factor.
#pragma once
#include "ops/op.h"

namespace deuteron {

// The result is operand `a` times a_factor and operand `b` times b_factor, in the result's steps.
// Types and shapes fit: the caller's.
Result<Lowered> lower_sum_s16(size_t a, double a_factor, size_t b, double b_factor,
                              const Bounds& bounds, const LowerContext& c);

}  // namespace deuteron
