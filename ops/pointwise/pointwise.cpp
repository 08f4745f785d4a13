#include "ops/pointwise/pointwise.h"

#include "ops/unary/table.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const Pointwise& a, TypeView in) {
  if (in.size() != 1) return Refusal{"takes one operand", std::to_string(in.size()), "1", "pointwise.operands"};
  if (a.program.steps.size() > kMostPointSteps)
    return Refusal{"has too many steps", std::to_string(a.program.steps.size()), std::to_string(kMostPointSteps), "pointwise.steps"};
  for (size_t k = 0; k < a.program.steps.size(); ++k)
    for (const PointOperand* o : {&a.program.steps[k].a, &a.program.steps[k].b})
      if (o->from < PointOperand::kNumber || o->from >= static_cast<i64>(k))
        return Refusal{"a step reads what no step before it makes", std::to_string(o->from), std::to_string(k), "pointwise.order"};
  return std::vector<Type>{{in[0].dtype, in[0].shape, {}}};
}

static Result<Lowered> cortex_m(const Pointwise& a, const LowerContext& c) {
  return lower_as_table(c, "cortex_m.pointwise.dtype", [&](float x) { return evaluate(a.program, x); });
}

static constexpr QuantSpec kQuant[] = {{DType::s8, Gran::per_tensor}, {DType::s8, Gran::per_tensor}};

// Limits: rules of ExecuTorch's NXP backend (converters of the operator); the numbers are the target's.
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
static constexpr NpuRow<Pointwise> kNpu[] = {
    {"steps", "functions in a chain: Neutron IR has no tables", NpuTest::at_most,
     [](const Pointwise& a, const NpuOperands&) { return std::optional<i64>(a.program.steps.size()); }, nullptr, 1},
    {"function", "Neutron IR has the function of x and a number (add, sub, mul)", NpuTest::holds,
     [](const Pointwise& a, const NpuOperands&) {
       return std::optional<i64>(a.program.steps.size() == 1 && has_builtin(a.program.steps[0]));
     }},
};
static constexpr NpuSupport<Pointwise> kNpuSupport{
    .rows = kNpu, .builtin = "ADD, SUB, MUL, MAXIMUM, MINIMUM and what unary has", .absent = {}};

const OpDef<Pointwise>& def_of(const Pointwise&) {
  static constexpr OpDef<Pointwise> d{.name = "pointwise",
                                      .infer = infer,
                                      .quantize = kQuant,
                                      .macs = no_macs,
                                      .execute = execute,
                                      .cortex_m = cortex_m,
                                      .npu = kNpuSupport};
  return d;
}

}  // namespace deuteron
