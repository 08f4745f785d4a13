// SPDX-License-Identifier: Apache-2.0
#include "ops/linear/linear.h"

#include <algorithm>

#include "ops/integer/bounds.h"
#include "ops/integer/multiplier.h"
#include "ops/integer/refusals.h"
#include "ops/linear_once/form.h"

namespace deuteron {

enum { kX, kWeight, kBias };

static Result<std::vector<Type>> infer(const Linear&, TypeView in) {
  if (in.size() < 2 || in[kX].rank() < 1 || in[kWeight].rank() != 2)
    return Refusal{"linear takes x [..,in] and weight [out,in]", "", "", "linear.rank"};
  const Shape& w = in[kWeight].shape;
  if (in[kX].shape.back() != w[1])
    return Refusal{"the last extent of x is not the weight's", to_text(in[kX].shape), to_text(w), "linear.extent"};
  if (in.size() > 2 && in[kBias].shape != Shape{w[0]})
    return Refusal{"bias does not have one element for each output", to_text(in[kBias].shape), to_text(Shape{w[0]}), "linear.bias"};
  Shape y = in[kX].shape;
  y.back() = w[0];
  return std::vector<Type>{{in[kX].dtype, std::move(y), {}}};
}

static i64 count_macs(const Linear&, TypeView in, TypeView out) { return out[0].elements() * in[kWeight].shape[1]; }

// MVE kernels take input_offset * sum of weights + bias, folded here, instead of the bias.
static std::vector<i32> folded_sums(std::span<const int8_t> weight, i64 out, i64 in, i32 input_offset, const Constant* bias) {
  std::vector<i32> sums(out);
  for (i64 o = 0; o < out; ++o) {
    const auto filter = weight.subspan(static_cast<size_t>(o * in), static_cast<size_t>(in));
    const i64 sum = folded_bias(filter, -input_offset, bias ? bias->as<i32>()[o] : 0);
    sums[o] = static_cast<i32>(static_cast<uint32_t>(sum));
  }
  return sums;
}

// Of all outputs.
static SumRange range_of_sums(std::span<const int8_t> weight, i64 out, i64 in, const Quant& x, const Constant* bias) {
  SumRange all;
  for (i64 o = 0; o < out; ++o) {
    const auto filter = weight.subspan(static_cast<size_t>(o * in), static_cast<size_t>(in));
    const SumRange mine = sum_range(filter, x, bias ? bias->as<i32>()[o] : 0);
    all = o == 0 ? mine : SumRange{std::min(all.low, mine.low), std::max(all.high, mine.high)};
  }
  return all;
}

static Result<Lowered> cortex_m(const Linear& a, const LowerContext& c) {
  const Type &x = c.in[kX], &weight = c.in[kWeight], &y = c.out[0];
  if (auto r = require_int8(x, "x", "cortex_m.linear.dtype")) return *r;
  if (auto r = require_int8(weight, "weight", "cortex_m.linear.dtype")) return *r;
  if (auto r = require_int8(y, "y", "cortex_m.linear.dtype")) return *r;
  if (!c.data[kWeight]) return Refusal{"weight is not a constant", "", "", "cortex_m.linear.weight"};
  if (weight.quant.per_channel())
    return Refusal{"the kernel has one multiplier for all outputs", "weight per channel", "weight per tensor",
                   "cortex_m.linear.granularity"};
  if (weight.quant.zero_point[0] != 0)
    return Refusal{"weight must be quantized symmetrically", "zero point " + std::to_string(weight.quant.zero_point[0]), "0",
                   "cortex_m.linear.symmetric"};
  const i64 out = weight.shape[0], in = weight.shape[1];
  const double factor = product_factor(x.quant, weight.quant, y.quant, Rounding::once, Quotient::wide);
  auto multiplier = checked_multiplier(factor, unshifted_form_of(c.rounding), "cortex_m.linear.scale");
  if (!multiplier) return multiplier.why;
  if (auto why = why_sums_wrap(c, {&*multiplier, 1}, "cortex_m.linear.sums")) return *std::move(why);
  const i32 input_offset = -x.quant.zero_point[0], y_zero = y.quant.zero_point[0];
  const StepRange range = step_range(a.bounds, y.quant, of_bounds(c.rounding));
  const bool has_bias = c.in.size() > 2;
  const Constant* bias = has_bias ? c.data[kBias] : nullptr;
  if (is_reference(c.rounding) && (bias || !has_bias)) {  // TFLite rounds once
    const SumRange sums = range_of_sums(c.data[kWeight]->as<int8_t>(), out, in, x.quant, bias);
    if (const auto same = multiplier_rounding_once(factor, sums, range.low - y_zero, range.high - y_zero)) multiplier = *same;
    else if (auto once = linear_once_form(c, range)) return std::move(*once);
  }

  CallBuilder call("cortex_m::quantized_linear", c.in.size(), 1);
  call.in(kX, plain_face(x.shape)).in(kWeight, plain_face(weight.shape));
  if (c.isa == Isa::mve) {
    call.none();
    call.constant(DType::s32, {1, out}, folded_sums(c.data[kWeight]->as<int8_t>(), out, in, input_offset, bias));
  } else {
    if (has_bias) call.in(kBias, plain_face({out}));
    else call.none();
    call.none();
  }
  call.integer(input_offset).integer(0).integer(y_zero);
  call.integers({multiplier->value}).integers({multiplier->shift});
  call.integer(range.high).integer(range.low);  // the dialect has them in this order
  call.out(0, plain_face(y.shape));
  return call.done();
}

static constexpr QuantSpec kQuant[] = {
    {DType::s8, Gran::per_tensor},            // x
    {DType::s8, Gran::per_channel, 0, true},  // weight, by output
    {DType::s32, Gran::derived, 0, true},     // bias
    {DType::s8, Gran::per_tensor},            // y
};

// Limits: rules of ExecuTorch's NXP backend (converters of the operator); the numbers are the target's.
static constexpr NpuRow<Linear> kNpu[] = {
    {"weight", "the weight is a constant", must_hold("the weight is computed, and the NPU takes a constant only"),
     operand_is_constant<Linear, kWeight>},
    {"bias", "the bias is a constant", must_hold("the bias is computed, and the NPU takes a constant only"),
     operand_is_constant<Linear, kBias>},
    {"symmetric", "the weight's zero points are 0", must_hold("a zero point of the weight is not 0"),
     operand_is_symmetric<Linear, kWeight>},
    {"taps", "inputs, rounded up to the MAC width", NpuTest::at_most,
     [](const Linear&, const NpuOperands& o) { return std::optional<i64>(round_up(o.in[kWeight].shape[1], o.limits.vector_length)); },
     &NpuLimits::taps},
};
static constexpr NpuSupport<Linear> kNpuSupport{.rows = kNpu, .builtin = "FULLY_CONNECTED", .absent = {}};

static OpFacts facts_of(const Linear&) { return facts(Family::layer); }
static std::vector<Example<Linear>> examples() {
  return {{"one row", {}, {{1, 16}, {5, 16}, {5}}}, {"rows, at least 0", {.bounds = {.low = 0}}, {{3, 11}, {7, 11}}}};
}

const OpDef<Linear>& def_of(const Linear&) {
  static constexpr OpDef<Linear> d{.name = "linear",
                                   .infer = infer,
                                   .quantize = kQuant,
                                   .macs = count_macs,
                                   .execute = execute,
                                   .cortex_m = cortex_m,
                                   .npu = kNpuSupport,
                                   .facts = facts_of,
                                   .axes = kNoAxisRules<Linear>,
                                   .view = nullptr,
                                   .forms = kNoForms<Linear>,
                                   .examples = examples,
                                   .function = nullptr};
  return d;
}

}  // namespace deuteron
