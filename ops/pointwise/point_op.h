// SPDX-License-Identifier: Apache-2.0
// The steps of functions as operators of their own, and back.
#pragma once
#include "ops/all.h"

namespace deuteron {

constexpr bool has_second_operand(PointFn fn) {
  return fn != PointFn::unary && fn != PointFn::clamp;
}

// The operator that does what a step does; its operands are the step's.
Op op_of(const PointStep& s);

// The steps of an operator with one operand; nothing for one that is no function of one element.
std::optional<PointProgram> program_of(const Op& op);
bool has_program(const Op& op);

// f(max(x, least))
Op bounded_below(const PointProgram& f, float least);

// Appends an operator with two operands, with its factor and bounds.
void append_binary(PointProgram& p, const Op& op, PointOperand a, PointOperand b);

}  // namespace deuteron
