// SPDX-License-Identifier: Apache-2.0
// What lowerings of int16 operators share.
#pragma once
#include <optional>
#include <span>

#include "ops/op.h"

namespace deuteron {

// Nothing for int16 steps with one scale and zero point 0.
std::optional<Refusal> require_int16(const Type& t);

// The same of the operands and the result.
std::optional<Refusal> require_int16(const LowerContext& c);

// Both operands have one shape: of TFLite's arithmetic.
std::optional<Refusal> require_int16_pair(const LowerContext& c);

// The call of a kernel that scales what it makes of two operands (kernels/mul/16x8/bind.cpp has
// its row).
Lowered int16_pair_call(std::string kernel, const LowerContext& c, i32 multiplier, i32 shift);

// factor = multiplier * 2^(-31-shift), rounded, multiplier 2^30 or more; nothing where it is 1 or
// more, or too small to be one.
struct Int16Factor {
  i32 multiplier, shift;  // shift 0..30
};
std::optional<Int16Factor> int16_product_factor(double factor);

}  // namespace deuteron
