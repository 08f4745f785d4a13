// SPDX-License-Identifier: Apache-2.0
#include "ops/pointwise/pointwise.h"

#include <algorithm>

#include "ops/unary/functions.h"
#include "ops/unary/pair_table.h"
#include "ops/unary/table.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const Pointwise& a, TypeView in) {
  if (in.size() != 1)
    return Refusal{"takes one operand", std::to_string(in.size()), "1", "pointwise.operands"};
  if (a.program.steps.size() > kMostPointSteps)
    return Refusal{"has too many steps", std::to_string(a.program.steps.size()),
                   std::to_string(kMostPointSteps), "pointwise.steps"};
  for (size_t k = 0; k < a.program.steps.size(); ++k)
    for (const PointOperand* o : {&a.program.steps[k].a, &a.program.steps[k].b})
      if (o->from < PointOperand::kNumber || o->from >= static_cast<i64>(k))
        return Refusal{"a step reads what no step before it makes", std::to_string(o->from),
                       std::to_string(k), "pointwise.order"};
  return std::vector<Type>{{in[0].dtype, in[0].shape, {}}};
}

// One step between x and a number, or of x alone.
static bool has_builtin(const PointStep& s) {
  switch (s.fn) {
    case PointFn::add:
    case PointFn::mul:
      return true;
    case PointFn::sub:
      return s.a.from == PointOperand::kX;
    default:
      return false;
  }
}

// As the NPU computes it, when it has the function.
static std::optional<std::vector<int8_t>> npu_table(const PointProgram& program, const Quant& x,
                                                    const Quant& y) {
  if (program.steps.size() != 1 || !has_builtin(program.steps[0])) return std::nullopt;
  const PointStep& step = program.steps[0];
  const PointOperand& other = step.a.from == PointOperand::kX ? step.b : step.a;
  const NumberInSteps number = number_in_steps(other.number);
  const Quant quant = per_tensor(number.scale, 0);
  const PairSide second =
      other.from == PointOperand::kX ? PairSide{&x, {}} : PairSide{&quant, number.step};
  const PairFn fn = step.fn == PointFn::add   ? PairFn::add
                    : step.fn == PointFn::sub ? PairFn::sub
                                              : PairFn::mul;
  return pair_table(fn, {&x, {}}, second, y);
}

static Result<Lowered> cortex_m(const Pointwise& a, const LowerContext& c) {
  return lower_made_table(c, "cortex_m.pointwise.dtype", [&](const Quant& x, const Quant& y) {
    const auto table = c.rounding == Rounding::tflite ? npu_table(a.program, x, y) : std::nullopt;
    return table ? *table : table_of(x, y, [&](float v) { return evaluate(a.program, v); });
  });
}

static constexpr QuantSpec kQuant[] = {{DType::s8, Gran::per_tensor},
                                       {DType::s8, Gran::per_tensor}};

// Limits: rules of ExecuTorch's NXP backend (converters of the operator); the numbers are the
// target's.
static constexpr NpuRow<Pointwise> kNpu[] = {
    {"steps", "functions in a chain: Neutron IR has no tables", NpuTest::at_most,
     [](const Pointwise& a, const NpuOperands&) {
       return std::optional<i64>(a.program.steps.size());
     },
     nullptr, 1, [](const Pointwise& a) { return to_text(a.program); }},
    {"function", "Neutron IR has the function of x and a number (add, sub, mul)",
     must_hold("Neutron IR has only add, sub and mul of x and a number"),
     [](const Pointwise& a, const NpuOperands&) {
       return std::optional<i64>(a.program.steps.size() == 1 && has_builtin(a.program.steps[0]));
     }},
};
static constexpr NpuSupport<Pointwise> kNpuSupport{
    .rows = kNpu, .builtin = "ADD, SUB, MUL, MAXIMUM, MINIMUM and what unary has", .absent = {}};

static OpFacts facts_of(const Pointwise& a) {
  OpFacts f = facts(Family::elementwise);
  f.slow_functions = std::count_if(
      a.program.steps.begin(), a.program.steps.end(),
      [](const PointStep& s) { return s.fn == PointFn::unary && row_of(s.unary).is_slow; });
  return f;
}
static std::vector<Example<Pointwise>> examples() {
  return {{"no steps", {}, {{1, 6, 9, 4}}},
          {"x + 3", {*point_program_named("add(x,3)")}, {{2, 5, 3, 7}}},
          {"x * tanh(softplus(x))",
           {*point_program_named("softplus(x,0) tanh(%0,0) mul(x,%1)")},
           {{3, 11}}}};
}

const OpDef<Pointwise>& def_of(const Pointwise&) {
  static constexpr OpDef<Pointwise> d{.name = "pointwise",
                                      .infer = infer,
                                      .quantize = kQuant,
                                      .macs = no_macs,
                                      .execute = execute,
                                      .cortex_m = cortex_m,
                                      .npu = kNpuSupport,
                                      .facts = facts_of,
                                      .axes = kNoAxisRules<Pointwise>,
                                      .view = nullptr,
                                      .forms = {.simpler = nullptr,
                                                .kernel = portable_form,
                                                .last = nullptr,
                                                .portable = portable_form},
                                      .examples = examples,
                                      .function = nullptr};
  return d;
}

}  // namespace deuteron
