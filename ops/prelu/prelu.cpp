#include "ops/prelu/prelu.h"

#include "ops/op.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const Prelu&, TypeView in) {
  if (in.size() != 2) return Refusal{"prelu takes x and its slopes", std::to_string(in.size()), "2", "prelu.operands"};
  const Shape &x = in[0].shape, &slope = in[1].shape;
  const bool fits = slope.size() == 1 && (slope[0] == 1 || (!x.empty() && slope[0] == x.back()));
  if (!fits) return Refusal{"the slopes do not fit the last axis", to_text(slope), to_text(x), "prelu.shape"};
  return std::vector<Type>{{in[0].dtype, x, {}}};
}

// The dialect has no such kernel. rewrite/prelu_forms.cpp
static Result<Lowered> cortex_m(const Prelu&, const LowerContext&) {
  return Refusal{"the dialect has no kernel of prelu", "", "", "cortex_m.prelu.kernel"};
}

static constexpr QuantSpec kQuant[] = {
    {DType::s8, Gran::per_tensor},           // x
    {DType::s8, Gran::per_tensor, 0, true},  // slope
    {DType::s8, Gran::per_tensor},           // y
};

// Limits: rules of ExecuTorch's NXP backend (converters of the operator); the numbers are the target's.
static constexpr NpuRow<Prelu> kNpu[] = {
    {"slope", "the slope is a constant",
     must_hold("the slope is computed, and the NPU takes a constant only"), operand_is_constant<Prelu, 1>},
    {"rank", "rank", NpuTest::at_most, rank_of_result<Prelu>, &NpuLimits::rank},
};
static constexpr NpuSupport<Prelu> kNpuSupport{.rows = kNpu, .builtin = "PRELU", .absent = {}};

static OpFacts facts_of(const Prelu&) { return facts(Family::by_channel); }
static std::vector<Example<Prelu>> examples() {
  return {{"a slope for each channel", {}, {{1, 5, 3, 7}, {7}}}, {"one slope", {}, {{3, 11}, {1}}}};
}

const OpDef<Prelu>& def_of(const Prelu&) {
  static constexpr OpDef<Prelu> d{.name = "prelu",
                                  .infer = infer,
                                  .quantize = kQuant,
                                  .macs = no_macs,
                                  .execute = execute,
                                  .cortex_m = cortex_m,
                                  .npu = kNpuSupport,
                                  .facts = facts_of,
                                  .axes = kNoAxisRules<Prelu>,
                                  .view = nullptr,
                                  .forms = {.simpler = simpler_form, .kernel = kernel_form, .last = nullptr, .portable = nullptr},
                                  .examples = examples,
                                  .function = nullptr};
  return d;
}

}  // namespace deuteron
