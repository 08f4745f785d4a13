// SPDX-License-Identifier: Apache-2.0
#include "ops/matmul/matmul.h"

#include <fmt/format.h>

#include <limits>

#include "ops/common/multiplier.h"
#include "ops/common/npu_sums.h"
#include "ops/common/refusals.h"
#include "ops/kernel_call/numbers.h"
#include "ops/matmul/scratch.h"
#include "ops/matmul/zero_points.h"

namespace deuteron {

enum { kX, kOther };

static Result<std::vector<Type>> infer(const Matmul& a, TypeView in) {
  if (in.size() != 2 || in[kX].rank() != 3 || in[kOther].rank() != 3)
    return Refusal{"matmul takes x [b,m,k] and other [b,n,k]", "", "", "matmul.rank"};
  const Shape &x = in[kX].shape, &other = in[kOther].shape;
  if (x[0] != other[0])
    return Refusal{"the two series have different lengths", to_text(x), to_text(other),
                   "matmul.batch"};
  if (x[2] != other[2])
    return Refusal{"the inner extents of the two matrices differ", std::to_string(x[2]),
                   std::to_string(other[2]), "matmul.inner"};
  if (!(a.scale > 0) || !std::isfinite(a.scale))
    return Refusal{"the factor of the product must be positive and finite",
                   fmt::format("{:g}", a.scale), "0 < factor", "matmul.scale"};
  return std::vector<Type>{{in[kX].dtype, {x[0], x[1], other[1]}, {}}};
}

static i64 count_macs(const Matmul&, TypeView in, TypeView out) {
  return out[0].elements() * in[kX].shape[2];
}

static double largest_shifted_sum(i64 inner, const Multiplier& m) {
  return static_cast<double>(inner) * 255 * 255 * (m.shift > 0 ? std::ldexp(1.0, m.shift) : 1.0);
}

static Result<Lowered> cortex_m(const Matmul& a, const LowerContext& c) {
  const Type &x = c.in[kX], &other = c.in[kOther], &y = c.out[0];
  if (auto r = require_int8(x, "x", "cortex_m.matmul.dtype")) return *r;
  if (auto r = require_int8(other, "other", "cortex_m.matmul.dtype")) return *r;
  if (auto r = require_int8(y, "y", "cortex_m.matmul.dtype")) return *r;
  for (const Type* t : {&x, &other, &y})
    if (t->quant.per_channel())
      return Refusal{"the kernel has one scale for each tensor", "per channel", "per tensor",
                     "cortex_m.matmul.granularity"};
  // |product| <= 255 * 255, and sums wrap at 2^31.
  if (x.shape[2] > std::numeric_limits<i32>::max() / (255 * 255))
    return Refusal{"the sum of so many products may overflow", std::to_string(x.shape[2]), "33025",
                   "cortex_m.matmul.inner"};
  const double scale =
      product_factor(x.quant, other.quant, y.quant, c.rounding, Quotient::wide, a.scale);
  const auto multiplier = checked_multiplier(scale, form_of(c.rounding), "cortex_m.matmul.scale");
  if (!multiplier) return multiplier.why;
  const Multiplier& m = *multiplier;
  if (m.value == 0)
    return Refusal{"the ratio of scales is too small: every result would be zero",
                   fmt::format("{:g}", scale), "2^-32", "cortex_m.matmul.scale"};
  // The stock kernel shifts a sum to the left before it multiplies, and a sum that leaves int32
  // wraps.
  const double most = largest_shifted_sum(x.shape[2], m);
  if (m.shift > 0 && most >= 2147483648.0)
    return Refusal{"the result's scale is too fine for the operands': shifted sums may overflow",
                   fmt::format("{:g}", most), "2147483647", "cortex_m.matmul.scale"};
  const auto extent = [](const Type& t, size_t axis) { return static_cast<i32>(t.shape[axis]); };
  const MatmulArgs args{extent(x, 0),
                        extent(x, 1),
                        extent(other, 1),
                        extent(x, 2),
                        static_cast<i32>(-x.quant.zero_point[0]),
                        static_cast<i32>(-other.quant.zero_point[0]),
                        static_cast<i32>(y.quant.zero_point[0]),
                        m.value,
                        m.shift};

  CallBuilder call("cortex_m::quantized_batch_matmul", c.in.size(), 1);
  call.in(kX, plain_face(x.shape))
      .integer(args.x_offset)
      .in(kOther, plain_face(other.shape))
      .integer(args.other_offset);
  call.integer(args.y_zero).integer(args.multiplier).integer(args.shift);
  call.scratch(matmul_scratch_bytes(args, c.isa), {}).out(0, plain_face(y.shape));
  return call.numbers(args).done();
}

static constexpr QuantSpec kQuant[] = {
    {DType::s8, Gran::per_tensor}, {DType::s8, Gran::per_tensor}, {DType::s8, Gran::per_tensor}};

// 255 * 255 * 32768 < 2^31: kMostInner of the machine model
constexpr i64 kMostSummedOnNpu = 32768;

// Limits: rules of ExecuTorch's NXP backend (converters of the operator); the numbers are the
// target's.
static constexpr NpuRow<Matmul> kNpu[] = {
    {"width", "rows of the first matrix", NpuTest::multiple_of,
     [](const Matmul&, const NpuOperands& o) { return std::optional<i64>(o.in[kX].shape[1]); },
     &NpuLimits::matmul_multiple},
    {"channels", "columns of the first matrix, rows of the second", NpuTest::multiple_of,
     [](const Matmul&, const NpuOperands& o) { return std::optional<i64>(o.in[kX].shape[2]); },
     &NpuLimits::matmul_multiple},
    {"columns", "columns of the second matrix", NpuTest::multiple_of,
     [](const Matmul&, const NpuOperands& o) { return std::optional<i64>(o.in[kOther].shape[1]); },
     &NpuLimits::matmul_multiple},
    {"sums", "sums of products stay in int32", kSumsStay,
     [](const Matmul& a, const NpuOperands& o) -> std::optional<i64> {
       if (!o.is_quantized()) return std::nullopt;
       const double scale = product_factor(o.in[kX].quant, o.in[kOther].quant, o.out[0].quant,
                                           Rounding::tflite, Quotient::wide, a.scale);
       const auto m = checked_multiplier(scale, form_of(Rounding::tflite), "");
       return !m || m->shift <= 0 || largest_shifted_sum(o.in[kX].shape[2], *m) < 2147483648.0 ? 1
                                                                                               : 0;
     }},
    {"inner", "columns of the first matrix, with those that stand for zero points",
     NpuTest::at_most,
     [](const Matmul&, const NpuOperands& o) {
       const i64 inner = o.in[kX].shape[2];
       if (!o.is_quantized()) return std::optional<i64>(inner);
       return std::optional<i64>(without_zero_points(o.in[kX].quant.zero_point[0],
                                                     o.in[kOther].quant.zero_point[0], inner)
                                     .extent());
     },
     nullptr, kMostSummedOnNpu},
};
// Zero points of 0 make the product shortest: ExecuTorch's backend takes no others, and those that
// come quantized take longer rows (zero_points.h).
static constexpr QuantSpec kNpuQuant[] = {{DType::s8, Gran::per_tensor, 0, true},
                                          {DType::s8, Gran::per_tensor, 0, true},
                                          {DType::s8, Gran::per_tensor}};
static std::span<const QuantSpec> npu_quantize(const Matmul&) { return kNpuQuant; }
static constexpr NpuSupport<Matmul> kNpuSupport{
    .rows = kNpu, .builtin = "BATCH_MATMUL", .absent = {}, .quantize = npu_quantize};

// The second operand is seen transposed.
Result<Lowered> float_form(const Matmul& a, const LowerContext& c) {
  if (a.scale != 1)
    return Refusal{"the portable product has no factor", fmt::format("{:g}", a.scale), "1",
                   "portable.matmul.scale"};
  const Shape& other = c.in[1].shape;
  CallBuilder call("aten::bmm", c.in.size(), 1);
  call.in(0, plain_face(c.in[0].shape))
      .in(1, {{other[0], other[2], other[1]}, {0, 2, 1}})
      .out(0, plain_face(c.out[0].shape));
  return call.done();
}

static OpFacts facts_of(const Matmul&) { return facts(Family::product); }
static std::vector<Example<Matmul>> examples() {
  return {{"1x8x16", {}, {{1, 8, 16}, {1, 24, 16}}}, {"odd extents", {}, {{3, 5, 7}, {3, 2, 7}}}};
}

const OpDef<Matmul>& def_of(const Matmul&) {
  static constexpr OpDef<Matmul> d{
      .name = "matmul",
      .infer = infer,
      .quantize = kQuant,
      .macs = count_macs,
      .execute = execute,
      .cortex_m = cortex_m,
      .npu = kNpuSupport,
      .facts = facts_of,
      .axes = kNoAxisRules<Matmul>,
      .view = nullptr,
      .forms = {.simpler = nullptr, .kernel = nullptr, .last = nullptr, .portable = portable_form},
      .examples = examples,
      .function = nullptr};
  return d;
}

}  // namespace deuteron
