// SPDX-License-Identifier: Apache-2.0
#include "ops/pointwise/point_op.h"

#include "base/check.h"
#include "ops/families.h"

namespace deuteron {

Op op_of(const PointStep& s) {
  switch (s.fn) {
    case PointFn::unary:
      return Unary{s.unary, s.alpha};
    case PointFn::clamp:
      return Clamp{s.bounds};
    case PointFn::add:
      return Add{};
    case PointFn::sub:
      return Add{.bounds = {}, .alpha = -1};
    case PointFn::mul:
      return Mul{};
    case PointFn::div:
      return Div{};
    case PointFn::minimum:
      return Minimum{};
    case PointFn::maximum:
      return Maximum{};
  }
  return Unary{};
}

bool has_program(const Op& op) { return facts_of(op).family == Family::elementwise; }

std::optional<PointProgram> program_of(const Op& op) {
  if (const auto* p = std::get_if<Pointwise>(&op)) return p->program;
  PointProgram program;
  PointStep step;
  if (const auto* unary = std::get_if<Unary>(&op)) {
    step.unary = unary->fn;
    step.alpha = unary->alpha;
  } else if (const auto* clamp = std::get_if<Clamp>(&op)) {
    step.fn = PointFn::clamp;
    step.bounds = clamp->bounds;
  } else {
    return std::nullopt;
  }
  program.steps.push_back(step);
  return program;
}

static PointOperand add_step(PointProgram& p, PointFn fn, PointOperand a, PointOperand b) {
  PointStep step;
  step.fn = fn;
  step.a = a;
  step.b = b;
  p.steps.push_back(step);
  return {static_cast<i64>(p.steps.size()) - 1, 0};
}

static void append(PointProgram& p, const Mul&, PointOperand a, PointOperand b) {
  add_step(p, PointFn::mul, a, b);
}
static void append(PointProgram& p, const Div&, PointOperand a, PointOperand b) {
  add_step(p, PointFn::div, a, b);
}
static void append(PointProgram& p, const Minimum&, PointOperand a, PointOperand b) {
  add_step(p, PointFn::minimum, a, b);
}
static void append(PointProgram& p, const Maximum&, PointOperand a, PointOperand b) {
  add_step(p, PointFn::maximum, a, b);
}
static void append(PointProgram& p, const Add& add, PointOperand a, PointOperand b) {
  PointOperand sum;
  if (add.alpha == 1) sum = add_step(p, PointFn::add, a, b);
  else if (add.alpha == -1) sum = add_step(p, PointFn::sub, a, b);
  else
    sum = add_step(p, PointFn::add, a,
                   add_step(p, PointFn::mul, b, {PointOperand::kNumber, add.alpha}));
  if (add.bounds.none()) return;
  PointStep clamp;
  clamp.fn = PointFn::clamp;
  clamp.a = sum;
  clamp.bounds = add.bounds;
  p.steps.push_back(clamp);
}
static void append(PointProgram&, const auto&, PointOperand, PointOperand) {
  DEUTERON_CHECK(false, "an operator with two operands");
}

Op bounded_below(const PointProgram& f, float least) {
  PointProgram result;
  PointStep bound;
  bound.fn = PointFn::clamp;
  bound.bounds.low = least;
  result.steps.push_back(bound);
  const auto moved = [](PointOperand o) {
    if (o.from != PointOperand::kNumber) ++o.from;  // x becomes step 0
    return o;
  };
  for (PointStep step : f.steps) {
    step.a = moved(step.a), step.b = moved(step.b);
    result.steps.push_back(step);
  }
  return Pointwise{std::move(result)};
}

void append_binary(PointProgram& p, const Op& op, PointOperand a, PointOperand b) {
  std::visit([&](const auto& o) { append(p, o, a, b); }, op);
}

}  // namespace deuteron
