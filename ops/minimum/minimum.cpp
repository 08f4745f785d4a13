// SPDX-License-Identifier: Apache-2.0
#include "ops/minimum/minimum.h"

#include "ops/common/broadcast.h"
#include "ops/common/merged_axes.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const Minimum&, TypeView in) {
  return infer_broadcast(in, "minimum.shape");
}

static Result<Lowered> cortex_m(const Minimum&, const LowerContext& c) {
  return lower_extremum("cortex_m::minimum", c, "cortex_m.minimum");
}

static constexpr QuantSpec kQuant[] = {
    {DType::s8, Gran::per_tensor}, {DType::s8, Gran::shared}, {DType::s8, Gran::shared}};

// Limits: rules of ExecuTorch's NXP backend (converters of the operator); the numbers are the
// target's.
static constexpr NpuRow<Minimum> kNpu[] = {
    {"broadcast", "one operand has the result's shape",
     must_hold("both operands are repeated, and one of them must have the result's shape"),
     one_operand_is_whole<Minimum>},
    {"rank", kMergedAxes, NpuTest::at_most, merged_axes<Minimum>, &NpuLimits::rank},
    {"parameters", "operands and result have one scale and zero point",
     must_hold("an operand and the result have different scales or zero points"),
     parameters_are_shared<Minimum>},
};
static constexpr NpuSupport<Minimum> kNpuSupport{.rows = kNpu, .builtin = "MINIMUM", .absent = {}};

static OpFacts facts_of(const Minimum&) { return facts(Family::binary); }
static std::vector<Example<Minimum>> examples() {
  return {{"equal shapes", {}, {{2, 5, 3, 7}, {2, 5, 3, 7}}},
          {"one for each channel", {}, {{2, 5, 3, 7}, {7}}}};
}

const OpDef<Minimum>& def_of(const Minimum&) {
  static constexpr OpDef<Minimum> d{.name = "minimum",
                                    .infer = infer,
                                    .quantize = kQuant,
                                    .macs = no_macs,
                                    .execute = execute,
                                    .cortex_m = cortex_m,
                                    .npu = kNpuSupport,
                                    .facts = facts_of,
                                    .axes = kNoAxisRules<Minimum>,
                                    .view = nullptr,
                                    .forms = kNoForms<Minimum>,
                                    .examples = examples,
                                    .function = nullptr};
  return d;
}

}  // namespace deuteron
