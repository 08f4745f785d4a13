// SPDX-License-Identifier: Apache-2.0
#include "ops/reshape/reshape.h"

#include "ops/op.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const Reshape& a, TypeView in) {
  if (in.size() != 1 || numel(a.shape) != in[0].elements())
    return Refusal{"reshape must keep the number of elements",
                   in.size() == 1 ? to_text(in[0].shape) : "", to_text(a.shape),
                   "reshape.elements"};
  for (const i64 extent : a.shape)
    if (extent < 0)
      return Refusal{"an extent is negative", to_text(a.shape), "0", "reshape.extent"};
  return std::vector<Type>{{in[0].dtype, a.shape, {}}};
}

static Result<Lowered> cortex_m(const Reshape&, const LowerContext&) {
  return Refusal{"a reshape is a view and has no kernel", "", "", "cortex_m.reshape"};
}

static constexpr QuantSpec kQuant[] = {{DType::s8, Gran::per_tensor}, {DType::s8, Gran::shared}};

// Limits: rules of ExecuTorch's NXP backend (converters of the operator); the numbers are the
// target's.
static constexpr NpuRow<Reshape> kNpu[] = {
    {"rank", "rank", NpuTest::at_most, rank_of_result<Reshape>, &NpuLimits::reshape_rank},
};
static constexpr NpuSupport<Reshape> kNpuSupport{.rows = kNpu, .builtin = "RESHAPE", .absent = {}};

static std::optional<i64> view(const Reshape&, TypeView) { return 0; }
static OpFacts facts_of(const Reshape&) {
  return facts(Family::movement, Values::same, Storage::in_operand);
}
static std::vector<Example<Reshape>> examples() {
  return {{"rows", {{6, 24}}, {{1, 6, 6, 4}}}, {"flat", {{105}}, {{1, 5, 3, 7}}}};
}

const OpDef<Reshape>& def_of(const Reshape&) {
  static constexpr OpDef<Reshape> d{.name = "reshape",
                                    .infer = infer,
                                    .quantize = kQuant,
                                    .macs = no_macs,
                                    .execute = execute,
                                    .cortex_m = cortex_m,
                                    .npu = kNpuSupport,
                                    .facts = facts_of,
                                    .axes = kNoAxisRules<Reshape>,
                                    .view = view,
                                    .forms = kNoForms<Reshape>,
                                    .examples = examples,
                                    .function = nullptr};
  return d;
}

}  // namespace deuteron
