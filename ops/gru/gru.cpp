// SPDX-License-Identifier: Apache-2.0
#include "ops/gru/gru.h"

#include <algorithm>
#include <cmath>

#include "ops/common/multiplier.h"
#include "ops/common/recurrent_def.h"

namespace deuteron {

static constexpr RecurrentKind kKind{"gru", 3, 1};

static Result<std::vector<Type>> infer(const Gru& a, TypeView in) {
  return infer_recurrent(a.form, kKind, in);
}
static i64 count_macs(const Gru& a, TypeView in, TypeView) { return recurrent_macs(a.form, in); }

// h lies between -1 and 1 unless it begins elsewhere, and then comes nearer at every step.
static Result<Lowered> deuteron_call(const Gru& a, const LowerContext& c) {
  const size_t first = initial_operand(a.form);
  const bool given = c.in.size() > first && !c.in[first].quant.empty();
  const Quant start = given ? c.in[first].quant : per_tensor(1, 0);
  const i64 bits = given ? fraction_bits(std::max(0.999, largest_magnitude(start))) : 15;
  Result<RecurrentCall> begun = begin_recurrent_call("deuteron::gru", a.form, kKind, c, 0x1p-12,
                                                     2 * c.out[c.out.size() - 1].shape.back(),
                                                     std::ldexp(1.0, static_cast<int>(-15 - bits)));
  if (!begun) return begun.why;
  CallBuilder& call = begun.value->call;
  const double into = start.scale[0] * static_cast<double>(i64{1} << bits);
  if (given)
    if (auto why = why_not_first_scale(c, "state", into, "deuteron.gru.scale")) return *why;
  const auto m0 = checked_multiplier(given ? into : 0.0, Ties::to_even, "deuteron.gru.scale");
  if (!m0) return m0.why;
  call.integer(bits).integer(start.zero_point[0]).integer(m0->value).integer(m0->shift);
  add_state_results(*begun.value, a.form, c);
  call.scratch(2 * begun.value->sizes.units);
  return call.done();
}

static constexpr QuantSpec kStep{DType::s8, Gran::per_tensor}, kFloat{DType::f32, Gran::none};
static constexpr QuantSpec kQuant[] = {kStep, kFloat, kFloat, kFloat, kFloat, kStep, kStep};
static constexpr QuantSpec kQuantOfTwo[] = {kStep,  kFloat, kFloat, kFloat, kFloat, kFloat,
                                            kFloat, kFloat, kFloat, kStep,  kStep};

static OpFacts facts_of(const Gru&) { return facts(Family::recurrent); }
static std::vector<Example<Gru>> examples() {
  return {{"one direction", {}, {{2, 3, 4}, {15, 4}, {15, 5}, {15}, {15}}}};
}

const OpDef<Gru>& def_of(const Gru& a) {
  static constexpr OpDef<Gru> one{.name = "gru",
                                  .infer = infer,
                                  .quantize = kQuant,
                                  .macs = count_macs,
                                  .execute = execute,
                                  .cortex_m = deuteron_call,
                                  .npu = not_on_npu<Gru>("Neutron IR has no recurrent layers"),
                                  .facts = facts_of,
                                  .axes = kNoAxisRules<Gru>,
                                  .view = nullptr,
                                  .forms = kNoForms<Gru>,
                                  .examples = examples,
                                  .function = nullptr};
  static constexpr OpDef<Gru> two = with_operands(one, kQuantOfTwo);
  return a.form.bidirectional ? two : one;
}

}  // namespace deuteron
