// SPDX-License-Identifier: Apache-2.0
#include "ops/add/add.h"

#include <cmath>

#include "ops/common/bounds.h"
#include "ops/common/broadcast.h"
#include "ops/common/merged_axes.h"
#include "ops/common/pair.h"
#include "ops/common/refusals.h"
#include "ops/kernel_call/numbers.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const Add&, TypeView in) {
  return infer_broadcast(in, "add.shape");
}

static Result<Lowered> cortex_m(const Add& op, const LowerContext& c) {
  const Type &a = c.in[0], &b = c.in[1], &y = c.out[0];
  for (const Type* t : {&a, &b, &y})
    if (auto r = require_int8(*t, "an operand", "cortex_m.add.dtype")) return *r;
  if (!kernel_broadcasts(a.shape, b.shape))
    return Refusal{"shapes must be equal, or one operand has one element for each channel",
                   to_text(a.shape), to_text(b.shape), "cortex_m.add.shape"};
  const auto multipliers =
      pair_multipliers(PairFn::add, a.quant, b.quant, y.quant, c.rounding, "cortex_m.add.scale",
                       std::abs(static_cast<double>(op.alpha)));
  if (!multipliers) return multipliers.why;
  const Multiplier &ma = multipliers->x, &mb = multipliers->other, &my = multipliers->y;
  // A positive shift would be applied to a sum of up to 2 * 255 * 2^20 / 2.
  if (my.shift > 2)
    return Refusal{"the result's scale is too fine for the operands'", std::to_string(my.shift),
                   "2", "cortex_m.add.scale"};
  const StepRange range = step_range(op.bounds, y.quant, of_bounds(c.rounding));
  const AddArgs n{0,
                  0,
                  {a.quant.zero_point[0], ma.value, ma.shift},
                  {b.quant.zero_point[0], op.alpha < 0 ? -mb.value : mb.value, mb.shift},
                  {y.quant.zero_point[0], my.value, my.shift},
                  range.low,
                  range.high};

  CallBuilder call("cortex_m::quantized_add", c.in.size(), 1);
  call.in(0, elementwise_face(a.shape))
      .integer(n.x.zero)
      .integer(n.x.multiplier)
      .integer(n.x.shift);
  call.in(1, elementwise_face(b.shape))
      .integer(n.other.zero)
      .integer(n.other.multiplier)
      .integer(n.other.shift);
  call.integer(n.y.zero)
      .integer(n.y.multiplier)
      .integer(n.y.shift)
      .integer(n.y_min)
      .integer(n.y_max);
  call.out(0, elementwise_face(y.shape));
  if (a.shape == y.shape) call.may_share(0, 0);
  if (b.shape == y.shape) call.may_share(0, 1);
  return call.numbers(AddNumbers{a.shape, b.shape, y.shape, n}).done();
}

static constexpr QuantSpec kQuant[] = {
    {DType::s8, Gran::per_tensor}, {DType::s8, Gran::per_tensor}, {DType::s8, Gran::per_tensor}};

// Limits: rules of ExecuTorch's NXP backend (converters of the operator); the numbers are the
// target's.
static constexpr NpuRow<Add> kNpu[] = {
    {"broadcast", "one operand has the result's shape",
     must_hold("both operands are repeated, and one of them must have the result's shape"),
     one_operand_is_whole<Add>},
    {"rank", kMergedAxes, NpuTest::at_most, merged_axes<Add>, &NpuLimits::rank},
    {"alpha", "the factor of the second operand is 1 or -1",
     must_hold("the second operand counts with a factor other than 1 and -1"),
     [](const Add& a, const NpuOperands&) {
       return std::optional<i64>(a.alpha == 1 || a.alpha == -1);
     }},
};
static constexpr NpuSupport<Add> kNpuSupport{.rows = kNpu, .builtin = "ADD, SUB", .absent = {}};

static OpFacts facts_of(const Add&) { return facts(Family::binary); }
static std::vector<Example<Add>> examples() {
  return {
      {"equal shapes", {}, {{2, 5, 3, 7}, {2, 5, 3, 7}}},
      {"one for each channel, at least 0", {.bounds = {.low = 0}, .alpha = 1}, {{2, 5, 3, 7}, {7}}},
      {"a difference", {.bounds = {}, .alpha = -1}, {{3, 11}, {3, 11}}}};
}

const OpDef<Add>& def_of(const Add&) {
  static constexpr OpDef<Add> d{.name = "add",
                                .infer = infer,
                                .quantize = kQuant,
                                .macs = no_macs,
                                .execute = execute,
                                .cortex_m = cortex_m,
                                .npu = kNpuSupport,
                                .facts = facts_of,
                                .axes = kNoAxisRules<Add>,
                                .view = nullptr,
                                .forms = kNoForms<Add>,
                                .examples = examples,
                                .function = nullptr};
  return d;
}

}  // namespace deuteron
