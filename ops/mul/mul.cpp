// SPDX-License-Identifier: Apache-2.0
#include "ops/mul/mul.h"

#include "ops/common/broadcast.h"
#include "ops/common/merged_axes.h"
#include "ops/common/pair.h"
#include "ops/common/refusals.h"
#include "ops/kernel_call/numbers.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const Mul&, TypeView in) {
  return infer_broadcast(in, "mul.shape");
}

static Result<Lowered> cortex_m(const Mul&, const LowerContext& c) {
  const Type &a = c.in[0], &b = c.in[1], &y = c.out[0];
  for (const Type* t : {&a, &b, &y})
    if (auto r = require_int8(*t, "an operand", "cortex_m.mul.dtype")) return *r;
  if (!kernel_broadcasts(a.shape, b.shape))
    return Refusal{"shapes must be equal, or one operand has one element for each channel",
                   to_text(a.shape), to_text(b.shape), "cortex_m.mul.shape"};
  const auto multipliers =
      pair_multipliers(PairFn::mul, a.quant, b.quant, y.quant, c.rounding, "cortex_m.mul.scale");
  if (!multipliers) return multipliers.why;
  const Multiplier& m = multipliers->y;
  // |product| < 2^17: a left shift of up to 13 keeps it in int32.
  if (m.shift > 13)
    return Refusal{"the result's scale is too fine for the operands'", std::to_string(m.shift),
                   "13", "cortex_m.mul.scale"};

  const MulArgs args{static_cast<i32>(y.elements()),
                     static_cast<i32>(std::min(a.elements(), b.elements())),
                     a.quant.zero_point[0],
                     b.quant.zero_point[0],
                     y.quant.zero_point[0],
                     m.value,
                     m.shift};

  CallBuilder call("cortex_m::quantized_mul", c.in.size(), 1);
  call.in(0, elementwise_face(a.shape)).integer(args.x_zero);
  call.in(1, elementwise_face(b.shape)).integer(args.other_zero);
  call.integer(args.y_zero)
      .integer(args.multiplier)
      .integer(args.shift)
      .out(0, elementwise_face(y.shape));
  if (a.shape == y.shape) call.may_share(0, 0);
  if (b.shape == y.shape) call.may_share(0, 1);
  return call.numbers(args).done();
}

static constexpr QuantSpec kQuant[] = {
    {DType::s8, Gran::per_tensor}, {DType::s8, Gran::per_tensor}, {DType::s8, Gran::per_tensor}};

// Limits: rules of ExecuTorch's NXP backend (converters of the operator); the numbers are the
// target's.
static constexpr NpuRow<Mul> kNpu[] = {
    {"broadcast", "one operand has the result's shape",
     must_hold("both operands are repeated, and one of them must have the result's shape"),
     one_operand_is_whole<Mul>},
    {"rank", kMergedAxes, NpuTest::at_most, merged_axes<Mul>, &NpuLimits::rank},
};
static constexpr NpuSupport<Mul> kNpuSupport{.rows = kNpu, .builtin = "MUL", .absent = {}};

static OpFacts facts_of(const Mul&) { return facts(Family::binary); }
static std::vector<Example<Mul>> examples() {
  return {{"equal shapes", {}, {{2, 5, 3, 7}, {2, 5, 3, 7}}},
          {"one for each channel", {}, {{2, 5, 3, 7}, {7}}}};
}

const OpDef<Mul>& def_of(const Mul&) {
  static constexpr OpDef<Mul> d{.name = "mul",
                                .infer = infer,
                                .quantize = kQuant,
                                .macs = no_macs,
                                .execute = execute,
                                .cortex_m = cortex_m,
                                .npu = kNpuSupport,
                                .facts = facts_of,
                                .axes = kNoAxisRules<Mul>,
                                .view = nullptr,
                                .forms = kNoForms<Mul>,
                                .examples = examples,
                                .function = nullptr};
  return d;
}

}  // namespace deuteron
