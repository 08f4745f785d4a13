// SPDX-License-Identifier: Apache-2.0
#include "ops/linear/linear.h"

#include <algorithm>

#include "ops/common/bounds.h"
#include "ops/common/multiplier.h"
#include "ops/common/npu_sums.h"
#include "ops/common/refusals.h"
#include "ops/kernel_call/numbers.h"
#include "ops/linear/once_form.h"

namespace deuteron {

enum { kX, kWeight, kBias };

static Result<std::vector<Type>> infer(const Linear&, TypeView in) {
  if (in.size() < 2 || in[kX].rank() < 1 || in[kWeight].rank() != 2)
    return Refusal{"linear takes x [..,in] and weight [out,in]", "", "", "linear.rank"};
  const Shape& w = in[kWeight].shape;
  if (in[kX].shape.back() != w[1])
    return Refusal{"the last extent of x is not the weight's", to_text(in[kX].shape), to_text(w),
                   "linear.extent"};
  if (in.size() > 2 && in[kBias].shape != Shape{w[0]})
    return Refusal{"bias does not have one element for each output", to_text(in[kBias].shape),
                   to_text(Shape{w[0]}), "linear.bias"};
  Shape y = in[kX].shape;
  y.back() = w[0];
  return std::vector<Type>{{in[kX].dtype, std::move(y), {}}};
}

static i64 count_macs(const Linear&, TypeView in, TypeView out) {
  return out[0].elements() * in[kWeight].shape[1];
}

static std::span<const int8_t> filter_of(const DenseNumbers& n, i64 o) {
  return n.weight.as<int8_t>().subspan(static_cast<size_t>(o * n.filter_c),
                                       static_cast<size_t>(n.filter_c));
}
static i32 bias_of(const DenseNumbers& n, i64 o) {
  return n.bias.empty() ? 0 : n.bias[static_cast<size_t>(o)];
}

// MVE kernels take input_offset * sum of weights + bias, folded here, instead of the bias.
static std::vector<i32> folded_sums(const DenseNumbers& n) {
  std::vector<i32> sums;
  for (i64 o = 0; o < n.a.out_c; ++o)
    sums.push_back(static_cast<i32>(
        static_cast<uint32_t>(folded_bias(filter_of(n, o), n.a.x_zero, bias_of(n, o)))));
  return sums;
}

// Of all outputs.
static SumRange range_of_sums(const DenseNumbers& n, const Quant& x) {
  SumRange all;
  for (i64 o = 0; o < n.a.out_c; ++o) {
    const SumRange mine = sum_range(filter_of(n, o), x, bias_of(n, o));
    all = o == 0 ? mine : SumRange{std::min(all.low, mine.low), std::max(all.high, mine.high)};
  }
  return all;
}

static Lowered stock_call(DenseNumbers n, const LowerContext& c) {
  const i64 out = n.a.out_c;
  CallBuilder call("cortex_m::quantized_linear", c.in.size(), 1);
  call.in(kX, plain_face(c.in[kX].shape)).in(kWeight, plain_face(c.in[kWeight].shape));
  if (c.isa != Isa::mve && !n.bias.empty()) call.in(kBias, plain_face({out}));
  else call.none();
  if (c.isa == Isa::mve) call.constant(DType::s32, {1, out}, folded_sums(n));
  else call.none();
  call.integer(-n.a.x_zero).integer(0).integer(n.a.y_zero);
  call.integers({n.multipliers[0].value}).integers({n.multipliers[0].shift});
  call.integer(n.range.high).integer(n.range.low);  // the dialect has them in this order
  return call.out(0, plain_face(c.out[0].shape)).numbers(std::move(n)).done();
}

static Result<Lowered> cortex_m(const Linear& a, const LowerContext& c) {
  const Type &x = c.in[kX], &weight = c.in[kWeight], &y = c.out[0];
  if (auto r = require_int8(x, "x", "cortex_m.linear.dtype")) return *r;
  if (auto r = require_int8(weight, "weight", "cortex_m.linear.dtype")) return *r;
  if (auto r = require_int8(y, "y", "cortex_m.linear.dtype")) return *r;
  if (!c.data[kWeight])
    return Refusal{"weight is not a constant", "", "", "cortex_m.linear.weight"};
  if (weight.quant.per_channel())
    return Refusal{"the kernel has one multiplier for all outputs", "weight per channel",
                   "weight per tensor", "cortex_m.linear.granularity"};
  if (weight.quant.zero_point[0] != 0)
    return Refusal{"weight must be quantized symmetrically",
                   "zero point " + std::to_string(weight.quant.zero_point[0]), "0",
                   "cortex_m.linear.symmetric"};
  const double factor =
      product_factor(x.quant, weight.quant, y.quant, Rounding::once, Quotient::wide);
  const auto multiplier =
      checked_multiplier(factor, unshifted_form_of(c.rounding), "cortex_m.linear.scale");
  if (!multiplier) return multiplier.why;
  if (auto why = why_sums_wrap(c, {&*multiplier, 1}, "cortex_m.linear.sums"))
    return *std::move(why);
  DenseNumbers n =
      linear_numbers(c, *multiplier, step_range(a.bounds, y.quant, of_bounds(c.rounding)));
  if (is_reference(c.rounding)) {  // TFLite rounds once
    const auto same = multiplier_rounding_once(factor, range_of_sums(n, x.quant),
                                               n.range.low - n.a.y_zero, n.range.high - n.a.y_zero);
    if (same) n.multipliers.assign(n.multipliers.size(), *same);
    else if (auto once = linear_once_form(c, n)) return std::move(*once);
  }
  return stock_call(std::move(n), c);
}

static constexpr QuantSpec kQuant[] = {
    {DType::s8, Gran::per_tensor},            // x
    {DType::s8, Gran::per_channel, 0, true},  // weight, by output
    {DType::s32, Gran::derived, 0, true},     // bias
    {DType::s8, Gran::per_tensor},            // y
};

// FULLY_CONNECTED has one scale, and no limit; with a scale for each output it is a CONV_2D of one
// pixel. A float model will have these.
static std::optional<i64> taps_of_convolution(const Linear&, const NpuOperands& o) {
  const Type& w = o.in[kWeight];
  if (!w.quant.empty() && !w.quant.per_channel()) return std::nullopt;
  return round_up(w.shape[1], o.limits.vector_length);
}

// Limits: rules of ExecuTorch's NXP backend (converters of the operator); the numbers are the
// target's.
static constexpr NpuRow<Linear> kNpu[] = {
    {"weight", "the weight is a constant",
     must_hold("the weight is computed, and the NPU takes a constant only"),
     operand_is_constant<Linear, kWeight>},
    {"bias", "the bias is a constant",
     must_hold("the bias is computed, and the NPU takes a constant only"),
     operand_is_constant<Linear, kBias>},
    {"symmetric", "the weight's zero points are 0",
     must_hold("a zero point of the weight is not 0"), operand_is_symmetric<Linear, kWeight>},
    {"sums", "sums of products and bias stay in int32", kSumsStay, sums_stay_in_int32<Linear>},
    {"taps", "inputs, rounded up to the MAC width, of weights with a scale for each output",
     NpuTest::at_most, taps_of_convolution, &NpuLimits::taps},
};
static constexpr NpuSupport<Linear> kNpuSupport{
    .rows = kNpu, .builtin = "FULLY_CONNECTED", .absent = {}};

static OpFacts facts_of(const Linear&) { return facts(Family::layer); }
static std::vector<Example<Linear>> examples() {
  return {{"one row", {}, {{1, 16}, {5, 16}, {5}}},
          {"rows, at least 0", {.bounds = {.low = 0}}, {{3, 11}, {7, 11}}}};
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
