// SPDX-License-Identifier: Apache-2.0
#include "ops/lstm/lstm.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/common/multiplier.h"
#include "ops/common/recurrent_def.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const Lstm& a, TypeView in) {
  return infer_recurrent(a.form, kLstmCell, in);
}
static i64 count_macs(const Lstm& a, TypeView in, TypeView) { return recurrent_macs(a.form, in); }

// |c| grows by less than 1 a step. What calibration saw gets half of it as headroom.
static constexpr double kHeadroom = 1.5;
// Without calibration only the bound is known; with this many steps an int16 still has ten bits
// behind the point.
static constexpr double kMostUnknown = 32;

static Result<Lowered> deuteron_call(const Lstm& a, const LowerContext& c) {
  Result<RecurrentCall> begun = begin_recurrent_call("deuteron::lstm", a.form, kLstmCell, c,
                                                     0x1p-12, 4 * c.out[0].shape.back(), 0x1p-30);
  if (!begun) return begun.why;
  CallBuilder& call = begun.value->call;
  const RecurrentSizes& s = begun.value->sizes;
  const size_t first = initial_operand(a.form);
  const bool given = c.in.size() > first;
  const Quant start = given ? c.in[first + 1].quant : per_tensor(1, 0),
              &last = c.out[c.out.size() - 1].quant;
  const double bound = static_cast<double>(s.steps) + (given ? largest_magnitude(start) : 0.0);
  if (a.cell_range == 0 && bound > kMostUnknown)
    return Refusal{
        "the range of the cell state is not known, because the model came quantized and left this "
        "layer in float; only short sequences do "
        "without",
        fmt::format("{:g}", bound), fmt::format("{:g}", kMostUnknown), "deuteron.lstm.cell_range"};
  const i64 bits =
      fraction_bits(a.cell_range == 0 ? bound : std::min(bound, kHeadroom * a.cell_range));
  if (given) call.in(static_cast<i64>(first) + 1, plain_face(c.in[first + 1].shape));
  else call.none();
  const double one = static_cast<double>(i64{1} << bits);
  const double into = start.scale[0] * one, out_of = 1 / (32768 * one * last.scale[0]);
  if (given)
    if (auto why = why_not_first_scale(c, "cell state", into, "deuteron.lstm.scale")) return *why;
  if (out_of >= 1)
    return Refusal{"the scale of the final cell state is too fine", fmt::format("{}", out_of), "1",
                   "deuteron.lstm.scale"};
  const auto m0 = checked_multiplier(given ? into : 0.0, Ties::to_even, "deuteron.lstm.scale"),
             mn = checked_multiplier(out_of, Ties::to_even, "deuteron.lstm.scale");
  if (!m0) return m0.why;
  if (!mn) return mn.why;
  call.integer(bits).integer(start.zero_point[0]).integer(m0->value).integer(m0->shift);
  call.integer(last.zero_point[0]).integer(mn->value).integer(mn->shift);
  add_state_results(*begun.value, a.form, c);
  call.out(static_cast<i64>(c.out.size()) - 1, plain_face(c.out[c.out.size() - 1].shape))
      .scratch(2 * s.units);
  return call.done();
}

static constexpr QuantSpec kStep{DType::s8, Gran::per_tensor}, kFloat{DType::f32, Gran::none};
static constexpr QuantSpec kQuant[] = {kStep, kFloat, kFloat, kFloat, kFloat, kStep, kStep, kStep};
static constexpr QuantSpec kQuantOfTwo[] = {kStep,  kFloat, kFloat, kFloat, kFloat, kFloat,
                                            kFloat, kFloat, kFloat, kStep,  kStep,  kStep};

static OpFacts facts_of(const Lstm&) { return facts(Family::recurrent); }
static std::vector<Example<Lstm>> examples() {
  return {{"one direction", {}, {{2, 3, 4}, {20, 4}, {20, 5}, {20}, {20}}}};
}

const OpDef<Lstm>& def_of(const Lstm& a) {
  static constexpr OpDef<Lstm> one{.name = "lstm",
                                   .infer = infer,
                                   .quantize = kQuant,
                                   .macs = count_macs,
                                   .execute = execute,
                                   .cortex_m = deuteron_call,
                                   .npu = not_on_npu<Lstm>("Neutron IR has no recurrent layers"),
                                   .facts = facts_of,
                                   .axes = kNoAxisRules<Lstm>,
                                   .view = nullptr,
                                   .forms = kNoForms<Lstm>,
                                   .examples = examples,
                                   .function = nullptr};
  static constexpr OpDef<Lstm> two = with_operands(one, kQuantOfTwo);
  return a.form.bidirectional ? two : one;
}

}  // namespace deuteron
