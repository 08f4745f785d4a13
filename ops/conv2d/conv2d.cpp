// SPDX-License-Identifier: Apache-2.0
#include "ops/conv2d/conv2d.h"

#include <algorithm>

#include "ops/common/bounds.h"
#include "ops/common/multiplier.h"
#include "ops/common/npu_sums.h"
#include "ops/common/refusals.h"
#include "ops/conv2d/depthwise_scratch.h"
#include "ops/conv2d/scratch.h"
#include "ops/kernel_call/numbers.h"
#include "ops/linear/once_form.h"

namespace deuteron {

enum { kX, kWeight, kBias };

static Result<std::vector<Type>> infer(const Conv2d& a, TypeView in) {
  if (in.size() < 2 || in[kX].rank() != 4 || in[kWeight].rank() != 4)
    return Refusal{"conv2d takes x [n,h,w,c] and weight [oc,kh,kw,c/groups]", "", "",
                   "conv2d.rank"};
  const Shape &x = in[kX].shape, &w = in[kWeight].shape;
  if (a.groups < 1 || w[3] * a.groups != x[3] || w[0] % a.groups != 0)
    return Refusal{"channels do not fit the weight and the groups", to_text(x),
                   to_text(w) + " x groups " + std::to_string(a.groups), "conv2d.channels"};
  if (in.size() > 2 && in[kBias].shape != Shape{w[0]})
    return Refusal{"bias does not have one element for each output channel",
                   to_text(in[kBias].shape), to_text(Shape{w[0]}), "conv2d.bias"};
  if (a.stride.h < 1 || a.stride.w < 1 || a.dilation.h < 1 || a.dilation.w < 1)
    return Refusal{"stride and dilation must be at least 1", "", "", "conv2d.stride"};
  const i64 ho = out_extent(x[1], w[1], a.stride.h, a.dilation.h, a.pad_before.h + a.pad_after.h);
  const i64 wo = out_extent(x[2], w[2], a.stride.w, a.dilation.w, a.pad_before.w + a.pad_after.w);
  if (ho < 1 || wo < 1)
    return Refusal{"the kernel is larger than the padded image", to_text(x), to_text(w),
                   "conv2d.extent"};
  return std::vector<Type>{{in[kX].dtype, {x[0], ho, wo, w[0]}, {}}};
}

static i64 count_macs(const Conv2d&, TypeView in, TypeView out) {
  const Shape& w = in[kWeight].shape;
  return out[0].elements() * w[1] * w[2] * w[3];
}

// [oc,kh,kw,1] -> [1,kh,kw,oc]
static std::vector<int8_t> depthwise_weight(std::span<const int8_t> weight, i64 oc, i64 taps) {
  std::vector<int8_t> result(weight.size());
  for (i64 o = 0; o < oc; ++o)
    for (i64 t = 0; t < taps; ++t) result[t * oc + o] = weight[o * taps + t];
  return result;
}

// As TFLite's FULLY_CONNECTED does, whose weights by channel come here. False: a filter has no
// multiplier that gives the same steps.
static bool round_sums_once(const LowerContext& c, DenseNumbers& n) {
  bool all = true;
  const std::span<const int8_t> weights = n.weight.as<int8_t>();
  const size_t length = weights.size() / n.multipliers.size();
  for (size_t o = 0; o < n.multipliers.size(); ++o) {
    const SumRange sums = sum_range(weights.subspan(o * length, length), c.in[kX].quant,
                                    n.bias.empty() ? 0 : n.bias[o]);
    const double factor =
        channel_factor(c.in[kX].quant, c.in[kWeight].quant, c.out[0].quant, static_cast<i64>(o));
    if (const auto same = multiplier_rounding_once(factor, sums, n.range.low - n.a.y_zero,
                                                   n.range.high - n.a.y_zero))
      n.multipliers[o] = *same;
    else all = false;
  }
  return all;
}

// Its pixels are rows of a fully connected layer.
static bool is_layer_of_rows(const Conv2d& a, const Shape& w) {
  return w[1] == 1 && w[2] == 1 && a.groups == 1 && a.stride == HW{1, 1} && a.pad_before == HW{} &&
         a.pad_after == HW{};
}

// The kernel of the dialect: for a depthwise convolution one of its own.
static Lowered stock_call(DenseNumbers n, const LowerContext& c) {
  const Shape& w = c.in[kWeight].shape;
  const PackedConv2dArgs& a = n.a;
  const i64 oc = a.out_c;
  CallBuilder call(
      n.is_depthwise() ? "cortex_m::quantized_depthwise_conv2d" : "cortex_m::quantized_conv2d",
      c.in.size(), 1);
  call.in(kX, channels_last_face(c.in[kX].shape));
  if (n.is_depthwise())
    call.constant(DType::s8, {1, w[1], w[2], oc},
                  depthwise_weight(n.weight.as<int8_t>(), oc, w[1] * w[2]));
  else call.in(kWeight, plain_face(w));
  // Without a bias the kernels of a grouped convolution still advance the pointer: they get zeros.
  if (c.in.size() > 2) call.in(kBias, plain_face({oc}));
  else if (n.filter_c == a.in_c) call.none();
  else call.constant(DType::s32, {oc}, std::vector<i32>(oc, 0));
  call.integers({a.stride_h, a.stride_w})
      .integers({a.pad_h, a.pad_w})
      .integers({a.dilation_h, a.dilation_w});
  if (n.is_depthwise()) call.integer(oc / a.in_c);
  call.integer(-a.x_zero).integer(a.y_zero);
  add_multipliers(call, n.multipliers);
  call.integer(n.range.low).integer(n.range.high);
  if (n.is_depthwise()) {
    auto args = window_args<DepthwiseConv2dArgs>(n);
    args.dilation_h = a.dilation_h, args.dilation_w = a.dilation_w;
    const i64 bytes = depthwise_conv2d_scratch_bytes(args, c.isa);
    call.scratch(
        bytes, {depthwise_conv2d_least_scratch_bytes(args, c.isa), c.isa == Isa::mve ? bytes : 0});
  } else {
    auto args = window_args<Conv2dArgs>(n);
    args.dilation_h = a.dilation_h, args.dilation_w = a.dilation_w, args.kernel_c = n.filter_c;
    call.scratch(conv2d_scratch_bytes(args, c.isa));
  }
  return call.out(0, channels_last_face(c.out[0].shape)).numbers(std::move(n)).done();
}

static Result<Lowered> cortex_m(const Conv2d& a, const LowerContext& c) {
  const Type &x = c.in[kX], &weight = c.in[kWeight], &y = c.out[0];
  if (auto r = require_int8(x, "x", "cortex_m.conv2d.dtype")) return *r;
  if (auto r = require_int8(weight, "weight", "cortex_m.conv2d.dtype")) return *r;
  if (auto r = require_int8(y, "y", "cortex_m.conv2d.dtype")) return *r;
  if (!c.data[kWeight])
    return Refusal{"weight is not a constant", "", "", "cortex_m.conv2d.weight"};
  if (x.quant.per_channel() || (weight.quant.per_channel() && weight.quant.axis != 0))
    return Refusal{"x must be quantized per tensor, weight per tensor or by output channel", "", "",
                   "cortex_m.conv2d.granularity"};
  for (const i32 zero : weight.quant.zero_point)
    if (zero != 0)
      return Refusal{"weight must be quantized symmetrically", "zero point " + std::to_string(zero),
                     "0", "cortex_m.conv2d.symmetric"};
  auto multipliers =
      channel_multipliers(x.quant, weight.quant, y.quant, weight.shape[0], form_of(c.rounding),
                          "cortex_m.conv2d.scale", a.of_bytes ? Product::single : Product::wide);
  if (!multipliers) return multipliers.why;
  if (auto why = why_sums_wrap(c, *multipliers, "cortex_m.conv2d.sums")) return *std::move(why);
  DenseNumbers n = dense_numbers(c, *std::move(multipliers.value),
                                 step_range(a.bounds, y.quant, of_bounds(c.rounding)));
  n.set_window(a.stride, a.pad_before, a.dilation);
  if (c.rounding == Rounding::reference_once && !round_sums_once(c, n) &&
      is_layer_of_rows(a, weight.shape))
    if (auto once = linear_once_form(c, n)) return std::move(*once);
  return stock_call(std::move(n), c);
}

static constexpr QuantSpec kQuant[] = {
    {DType::s8, Gran::per_tensor},            // x
    {DType::s8, Gran::per_channel, 0, true},  // weight, by output channel
    {DType::s32, Gran::derived, 0, true},     // bias: scale = x.scale * weight.scale
    {DType::s8, Gran::per_tensor},            // y
};

// Limits: rules of ExecuTorch's NXP backend (converters of the operator); the numbers are the
// target's. The channels that one output sums over; a depthwise convolution counts with all of
// them. A grouped one is split.
static i64 npu_taps(const Conv2d& a, const NpuOperands& o) {
  const Shape &x = o.in[kX].shape, &w = o.in[kWeight].shape;
  const bool depthwise = a.groups == x[3];
  return w[1] * w[2] * round_up(depthwise ? x[3] : w[3], o.limits.vector_length);
}

static constexpr NpuRow<Conv2d> kNpu[] = {
    {"weight", "the weight is a constant",
     must_hold("the weight is computed, and the NPU takes a constant only"),
     operand_is_constant<Conv2d, kWeight>},
    {"bias", "the bias is a constant",
     must_hold("the bias is computed, and the NPU takes a constant only"),
     operand_is_constant<Conv2d, kBias>},
    {"symmetric", "the weight's zero points are 0",
     must_hold("a zero point of the weight is not 0"), operand_is_symmetric<Conv2d, kWeight>},
    {"kernel", "kernel height or width", NpuTest::at_most,
     [](const Conv2d&, const NpuOperands& o) {
       return std::optional<i64>(std::max(o.in[kWeight].shape[1], o.in[kWeight].shape[2]));
     },
     &NpuLimits::kernel},
    {"stride", "stride", NpuTest::at_most,
     [](const Conv2d& a, const NpuOperands&) {
       return std::optional<i64>(std::max(a.stride.h, a.stride.w));
     },
     &NpuLimits::stride},
    {"dilation", "dilation", NpuTest::at_most,
     [](const Conv2d& a, const NpuOperands&) {
       return std::optional<i64>(std::max(a.dilation.h, a.dilation.w));
     },
     &NpuLimits::dilation},
    {"sums", "sums of products and bias stay in int32", kSumsStay, sums_stay_in_int32<Conv2d>},
    {"taps", "kernel taps, channels rounded up to the MAC width", NpuTest::at_most,
     [](const Conv2d& a, const NpuOperands& o) { return std::optional<i64>(npu_taps(a, o)); },
     &NpuLimits::taps},
};
static constexpr NpuSupport<Conv2d> kNpuSupport{.rows = kNpu, .builtin = "CONV_2D", .absent = {}};

// A band of one row would take stock firmware's row-wise kernel (forms.cpp, row_to_column); bands
// of columns do not, as with MVE the image is a column by then. Stock kernels for 1x1 take the
// result's extents from the operand's: padding would be lost once a band has it on one side only.
static constexpr AxisRules<Conv2d> kAxes{
    .reordered = nullptr,
    .window = [](const Conv2d& a, TypeView in) -> std::optional<ImageWindow> {
      const Shape& w = in[kWeight].shape;
      return ImageWindow{{w[1], a.stride.h, a.dilation.h, a.pad_before.h},
                         {w[2], a.stride.w, a.dilation.w, a.pad_before.w}};
    },
    .has_bands =
        [](const Conv2d& a, TypeView in, TypeView out) {
          const Shape& w = in[kWeight].shape;
          const i64 axis = band_axis(out[0].shape);
          const bool padded = a.pad_before.along(axis) != 0 || a.pad_after.along(axis) != 0;
          return !(w[1] == 1 && w[2] == 1 && padded);
        },
    .band = [](const Conv2d& a, TypeView in, TypeView out,
               const RowBand& rows) -> std::optional<Conv2d> {
      const Shape& w = in[kWeight].shape;
      if (rows.rows_in == 1 && in[kX].shape[1] > 1 && w[2] > 1) return std::nullopt;
      Conv2d part = a;
      Shape x = in[kX].shape, y = out[0].shape;
      const i64 axis = band_axis(y);
      part.pad_before.along(axis) = rows.pad_before, part.pad_after.along(axis) = rows.pad_after;
      x[axis] = rows.rows_in, y[axis] = rows.rows_out;
      return takes_windows(part, x, w, y) ? std::optional(part) : std::nullopt;
    }};
static Conv2d strided() {
  Conv2d a;
  a.stride = {2, 1};
  a.pad_before = a.pad_after = {2, 1};
  a.bounds = {.low = 0};
  return a;
}
static Conv2d grouped(i64 groups) {
  Conv2d a;
  a.groups = groups;
  return a;
}
static OpFacts facts_of(const Conv2d&) { return facts(Family::layer); }
static std::vector<Example<Conv2d>> examples() {
  return {
      {"3x3", {}, {{1, 6, 9, 4}, {5, 3, 3, 4}, {5}}},
      {"5x3, strides, padding on both sides, at least 0", strided(), {{2, 11, 9, 3}, {6, 5, 3, 3}}},
      {"1x1", {}, {{1, 5, 7, 8}, {3, 1, 1, 8}, {3}}},
      {"depthwise", grouped(6), {{1, 9, 7, 6}, {6, 3, 3, 1}, {6}}},
      {"in two groups", grouped(2), {{1, 5, 7, 6}, {4, 3, 2, 3}, {4}}}};
}

const OpDef<Conv2d>& def_of(const Conv2d&) {
  static constexpr OpDef<Conv2d> d{.name = "conv2d",
                                   .infer = infer,
                                   .quantize = kQuant,
                                   .macs = count_macs,
                                   .execute = execute,
                                   .cortex_m = cortex_m,
                                   .npu = kNpuSupport,
                                   .facts = facts_of,
                                   .axes = kAxes,
                                   .view = nullptr,
                                   .forms = {.simpler = nullptr,
                                             .kernel = kernel_form,
                                             .last = nullptr,
                                             .portable = portable_form},
                                   .examples = examples,
                                   .function = nullptr};
  return d;
}

}  // namespace deuteron
