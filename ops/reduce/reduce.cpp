// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/reduce.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/common/merged_axes.h"
#include "ops/common/refusals.h"
#include "ops/kernel_call/numbers.h"
#include "ops/op.h"
#include "ops/reduce/multiplier.h"
#include "ops/reduce/slices.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const Reduce& a, TypeView in) {
  if (in.size() != 1 || a.axes.empty() || a.fn < Reduce::kMean || a.fn > Reduce::kMin)
    return Refusal{"reduce takes one operand, and at least one axis", to_text(a.axes), "",
                   "reduce.operands"};
  Shape y = in[0].shape;
  i64 last = -1;
  for (const i64 axis : a.axes) {
    if (axis <= last || axis >= in[0].rank())
      return Refusal{"the axes are not those of x, ascending", to_text(a.axes),
                     to_text(in[0].shape), "reduce.axes"};
    if (y[axis] < 1)
      return Refusal{"a slice has no elements", to_text(in[0].shape), "1", "reduce.extent"};
    y[axis] = 1;
    last = axis;
  }
  return std::vector<Type>{{in[0].dtype, std::move(y), {}}};
}

struct ReduceFunction {
  std::string_view name, builtin;
};
static constexpr ReduceFunction kFunctions[] = {
    {"mean", "MEAN"}, {"sum", "SUM"}, {"amax", "REDUCE_MAX"}, {"amin", "REDUCE_MIN"}};

static bool is_extreme(const Reduce& a) { return a.fn == Reduce::kMax || a.fn == Reduce::kMin; }

static i64 summed(const Reduce& a, const Shape& x) {
  i64 count = 1;
  for (const i64 axis : a.axes) count *= x[axis];
  return count;
}

// What brings the sum of `count` elements to the result's scale. A CPU alone divides by the count
// in the factor; beside an NPU, and for models of TFLite, it is what that does: SUM rounds once,
// MEAN twice.
static Result<Multiplier> multiplier_of_sum(const Reduce& a, const Quant& x, const Quant& y,
                                            i64 count, Rounding rounding) {
  static constexpr const char* kRule = "cortex_m.reduce.scale";
  const i64 divisor = a.fn == Reduce::kMean ? count : 1;
  const double ratio = static_cast<double>(x.scale[0]) / y.scale[0];
  if (rounding == Rounding::once)
    return checked_multiplier(ratio / static_cast<double>(divisor), form_of(rounding), kRule);
  if (is_reference(rounding) && a.fn == Reduce::kSum)
    return checked_multiplier(ratio, form_of(Rounding::reference_once), kRule);
  return reduce_multiplier(x, y, divisor, ties_of(rounding), kRule);
}

// deuteron::sum of any neighbouring axes. Stock firmware has a linear layer with weights of 1 for a
// sum over the last axis, whose one output has the same multiplier. Other sums become one of these
// (forms.cpp).
static Result<Lowered> cortex_m(const Reduce& a, const LowerContext& c) {
  const Type &x = c.in[0], &y = c.out[0];
  if (auto r = require_int8(x, "x", "cortex_m.reduce.dtype")) return *r;
  if (auto r = require_int8(y, "y", "cortex_m.reduce.dtype")) return *r;
  const Slices s = slices_of(x.shape, a.axes);
  if (is_extreme(a) || !s.neighbours || (c.for_stock && a.axes != Axes{x.rank() - 1}))
    return Refusal{"a reduction over these axes has no int8 form", to_text(a.axes),
                   to_text(x.shape), "cortex_m.reduce"};
  const auto m = multiplier_of_sum(a, x.quant, y.quant, s.slice, c.rounding);
  if (!m) return m.why;
  const i64 most = c.for_stock ? kMostSummed : std::min(kMostSummed, most_summed(m->shift));
  if (s.slice > most)
    return Refusal{"elements of a sum in int32", std::to_string(s.slice), std::to_string(most),
                   "cortex_m.reduce.elements"};
  if (!c.for_stock) {
    const SumArgs args{static_cast<i32>(s.outer),
                       static_cast<i32>(s.slice),
                       static_cast<i32>(s.inner),
                       x.quant.zero_point[0],
                       y.quant.zero_point[0],
                       m->value,
                       m->shift,
                       y.quant.low,
                       y.quant.high};
    CallBuilder call("deuteron::sum", c.in.size(), 1);
    call.in(0, plain_face(x.shape)).integer(args.inner).integer(args.x_zero).integer(args.y_zero);
    call.integer(args.multiplier)
        .integer(args.shift)
        .integer(args.low)
        .integer(args.high)
        .out(0, plain_face(y.shape));
    return call.numbers(args).done();
  }
  const i32 offset = -x.quant.zero_point[0];
  CallBuilder call("cortex_m::quantized_linear", c.in.size(), 1);
  call.in(0, plain_face(x.shape))
      .constant(DType::s8, {1, s.slice}, std::vector<int8_t>(static_cast<size_t>(s.slice), 1))
      .none();
  if (c.isa == Isa::mve)
    call.constant(DType::s32, {1, 1}, std::vector<i32>{static_cast<i32>(s.slice) * offset});
  else call.none();
  call.integer(offset)
      .integer(0)
      .integer(y.quant.zero_point[0])
      .integers({m->value})
      .integers({m->shift});
  call.integer(y.quant.high).integer(y.quant.low).out(0, plain_face(y.shape));
  return call.done();
}

static constexpr QuantSpec kQuant[] = {{DType::s8, Gran::per_tensor},
                                       {DType::s8, Gran::per_tensor}};
// An extreme is one of its operand's numbers.
static constexpr QuantSpec kExtreme[] = {{DType::s8, Gran::per_tensor}, {DType::s8, Gran::shared}};
static std::span<const QuantSpec> npu_quantize(const Reduce& a) {
  return is_extreme(a) ? kExtreme : kQuant;
}

static std::optional<i64> reduced_axes(const Reduce& a, const NpuOperands& o) {
  return count_merged(o.in[0].shape, [&](size_t axis) {
    return std::count(a.axes.begin(), a.axes.end(), static_cast<i64>(axis));
  });
}

// Limits: rules of ExecuTorch's NXP backend (converters of the operator); the numbers are the
// target's.
static constexpr NpuRow<Reduce> kNpu[] = {
    {"rank", kMergedAxes, NpuTest::at_most, reduced_axes, &NpuLimits::rank},
    {"elements", "elements of a sum in int32", NpuTest::at_most,
     [](const Reduce& a, const NpuOperands& o) {
       return is_extreme(a) ? std::nullopt : std::optional<i64>(summed(a, o.in[0].shape));
     },
     nullptr, kMostSummed},
};
static constexpr NpuSupport<Reduce> kNpuSupport{
    .rows = kNpu,
    .builtin = "one for each function",
    .absent = {},
    .quantize = npu_quantize,
    .builtin_of = [](const Reduce& a) { return kFunctions[a.fn].builtin; }};

static constexpr AxisRules<Reduce> kAxes{
    .reordered = [](const Reduce& a, const Axes& perm) -> std::optional<Reduce> {
      Reduce moved = a;
      for (i64& axis : moved.axes) axis = perm[static_cast<size_t>(axis)];
      std::sort(moved.axes.begin(), moved.axes.end());
      return moved;
    },
    .window = nullptr,
    .has_bands = nullptr,
    .band = nullptr};
static OpFacts facts_of(const Reduce& a) {
  return facts(Family::slices, is_extreme(a) ? Values::chosen : Values::computed);
}
static std::vector<Example<Reduce>> examples() {
  return {{"mean of a row", {Reduce::kMean, {1}}, {{2, 16}}},
          {"mean of an image", {Reduce::kMean, {1, 2}}, {{1, 5, 3, 7}}},
          {"sum of a row", {Reduce::kSum, {1}}, {{3, 11}}},
          {"largest of a row", {Reduce::kMax, {1}}, {{3, 11}}},
          {"smallest of an image", {Reduce::kMin, {1, 2}}, {{1, 5, 3, 7}}}};
}

const OpDef<Reduce>& def_of(const Reduce&) {
  static constexpr OpDef<Reduce> d{
      .name = "reduce",
      .infer = infer,
      .quantize = kQuant,
      .macs = no_macs,
      .execute = execute,
      .cortex_m = cortex_m,
      .npu = kNpuSupport,
      .facts = facts_of,
      .axes = kAxes,
      .view = nullptr,
      .forms = {.simpler = nullptr, .kernel = kernel_form, .last = nullptr, .portable = nullptr},
      .examples = examples,
      .function = [](const Reduce& a) { return kFunctions[a.fn].name; }};
  return d;
}

}  // namespace deuteron
