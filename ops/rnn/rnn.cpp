// SPDX-License-Identifier: Apache-2.0
#include "ops/rnn/rnn.h"

#include "ops/common/recurrent_def.h"

namespace deuteron {

static constexpr RecurrentKind kKind{"rnn", 1, 1};

static Result<std::vector<Type>> infer(const Rnn& a, TypeView in) {
  return infer_recurrent(a.form, kKind, in);
}
static i64 count_macs(const Rnn& a, TypeView in, TypeView) { return recurrent_macs(a.form, in); }

// With relu the sum is the state itself: its unit is a step of y.
static Result<Lowered> deuteron_call(const Rnn& a, const LowerContext& c) {
  if (c.out[0].quant.empty())
    return Refusal{"its results must be int8: give samples with --calibrate", "", "",
                   "deuteron.rnn.dtype"};
  Result<RecurrentCall> begun = begin_recurrent_call("deuteron::rnn", a.form, kKind, c,
                                                     a.relu ? c.out[0].quant.scale[0] : 0x1p-12,
                                                     c.out[c.out.size() - 1].shape.back(), 0x1p-30);
  if (!begun) return begun.why;
  begun.value->call.boolean(a.relu);
  add_state_results(*begun.value, a.form, c);
  return begun.value->call.done();
}

static constexpr QuantSpec kStep{DType::s8, Gran::per_tensor}, kFloat{DType::f32, Gran::none};
static constexpr QuantSpec kQuant[] = {kStep, kFloat, kFloat, kFloat, kFloat, kStep, kStep};
static constexpr QuantSpec kQuantOfTwo[] = {kStep,  kFloat, kFloat, kFloat, kFloat, kFloat,
                                            kFloat, kFloat, kFloat, kStep,  kStep};

static OpFacts facts_of(const Rnn&) { return facts(Family::recurrent); }
static std::vector<Example<Rnn>> examples() {
  return {{"one direction", {}, {{2, 3, 4}, {5, 4}, {5, 5}, {5}, {5}}}};
}

const OpDef<Rnn>& def_of(const Rnn& a) {
  static constexpr OpDef<Rnn> one{.name = "rnn",
                                  .infer = infer,
                                  .quantize = kQuant,
                                  .macs = count_macs,
                                  .execute = execute,
                                  .cortex_m = deuteron_call,
                                  .npu = not_on_npu<Rnn>("Neutron IR has no recurrent layers"),
                                  .facts = facts_of,
                                  .axes = kNoAxisRules<Rnn>,
                                  .view = nullptr,
                                  .forms = kNoForms<Rnn>,
                                  .examples = examples,
                                  .function = nullptr};
  static constexpr OpDef<Rnn> two = with_operands(one, kQuantOfTwo);
  return a.form.bidirectional ? two : one;
}

}  // namespace deuteron
