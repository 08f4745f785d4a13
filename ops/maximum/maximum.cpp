// SPDX-License-Identifier: Apache-2.0
#include "ops/maximum/maximum.h"

#include "ops/common/broadcast.h"
#include "ops/common/merged_axes.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const Maximum&, TypeView in) {
  return infer_broadcast(in, "maximum.shape");
}

static Result<Lowered> cortex_m(const Maximum&, const LowerContext& c) {
  return lower_extremum("cortex_m::maximum", c, "cortex_m.maximum");
}

static constexpr QuantSpec kQuant[] = {
    {DType::s8, Gran::per_tensor}, {DType::s8, Gran::shared}, {DType::s8, Gran::shared}};

// Limits: rules of ExecuTorch's NXP backend (converters of the operator); the numbers are the
// target's.
static constexpr NpuRow<Maximum> kNpu[] = {
    {"broadcast", "one operand has the result's shape",
     must_hold("both operands are repeated, and one of them must have the result's shape"),
     one_operand_is_whole<Maximum>},
    {"rank", kMergedAxes, NpuTest::at_most, merged_axes<Maximum>, &NpuLimits::rank},
    {"parameters", "operands and result have one scale and zero point",
     must_hold("an operand and the result have different scales or zero points"),
     parameters_are_shared<Maximum>},
};
static constexpr NpuSupport<Maximum> kNpuSupport{.rows = kNpu, .builtin = "MAXIMUM", .absent = {}};

static OpFacts facts_of(const Maximum&) { return facts(Family::binary); }
static std::vector<Example<Maximum>> examples() {
  return {{"equal shapes", {}, {{2, 5, 3, 7}, {2, 5, 3, 7}}},
          {"one for each channel", {}, {{2, 5, 3, 7}, {7}}}};
}

const OpDef<Maximum>& def_of(const Maximum&) {
  static constexpr OpDef<Maximum> d{.name = "maximum",
                                    .infer = infer,
                                    .quantize = kQuant,
                                    .macs = no_macs,
                                    .execute = execute,
                                    .cortex_m = cortex_m,
                                    .npu = kNpuSupport,
                                    .facts = facts_of,
                                    .axes = kNoAxisRules<Maximum>,
                                    .view = nullptr,
                                    .forms = kNoForms<Maximum>,
                                    .examples = examples,
                                    .function = nullptr};
  return d;
}

}  // namespace deuteron
