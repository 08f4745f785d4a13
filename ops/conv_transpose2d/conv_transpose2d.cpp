// SPDX-License-Identifier: Apache-2.0
#include "ops/conv_transpose2d/conv_transpose2d.h"

#include <algorithm>

#include "ops/common/bounds.h"
#include "ops/common/multiplier.h"
#include "ops/common/npu_sums.h"
#include "ops/common/refusals.h"
#include "ops/conv_transpose2d/stock_limits.h"
#include "ops/kernel_call/numbers.h"

namespace deuteron {

enum { kX, kWeight, kBias };

static i64 transposed_extent(i64 in, i64 kernel, i64 stride, i64 pad, i64 dilation, i64 more) {
  return (in - 1) * stride - 2 * pad + dilation * (kernel - 1) + 1 + more;
}

static Result<std::vector<Type>> infer(const ConvTranspose2d& a, TypeView in) {
  if (in.size() < 2 || in[kX].rank() != 4 || in[kWeight].rank() != 4)
    return Refusal{"conv_transpose2d takes x [n,h,w,c] and weight [oc,kh,kw,c/groups]", "", "",
                   "conv_transpose2d.rank"};
  const Shape &x = in[kX].shape, &w = in[kWeight].shape;
  if (a.groups < 1 || w[3] * a.groups != x[3] || w[0] % a.groups != 0)
    return Refusal{"channels do not fit the weight and the groups", to_text(x),
                   to_text(w) + " x groups " + std::to_string(a.groups),
                   "conv_transpose2d.channels"};
  if (in.size() > 2 && in[kBias].shape != Shape{w[0]})
    return Refusal{"bias does not have one element for each output channel",
                   to_text(in[kBias].shape), to_text(Shape{w[0]}), "conv_transpose2d.bias"};
  if (a.stride.h < 1 || a.stride.w < 1 || a.dilation.h < 1 || a.dilation.w < 1)
    return Refusal{"stride and dilation must be at least 1", "", "", "conv_transpose2d.stride"};
  const HW least{std::max(a.stride.h, a.dilation.h), std::max(a.stride.w, a.dilation.w)};
  if (a.output_pad.h < 0 || a.output_pad.w < 0 || a.output_pad.h >= least.h ||
      a.output_pad.w >= least.w)
    return Refusal{"the output padding must be less than the stride or the dilation",
                   to_text(Shape{a.output_pad.h, a.output_pad.w}),
                   to_text(Shape{least.h - 1, least.w - 1}), "conv_transpose2d.output_pad"};
  const i64 h = transposed_extent(x[1], w[1], a.stride.h, a.pad.h, a.dilation.h, a.output_pad.h);
  const i64 v = transposed_extent(x[2], w[2], a.stride.w, a.pad.w, a.dilation.w, a.output_pad.w);
  if (h < 1 || v < 1)
    return Refusal{"the padding leaves nothing of the result", to_text(Shape{h, v}), "1,1",
                   "conv_transpose2d.extent"};
  return std::vector<Type>{{in[kX].dtype, {x[0], h, v, w[0]}, {}}};
}

static i64 count_macs(const ConvTranspose2d&, TypeView in, TypeView) {
  const Shape &x = in[kX].shape, &w = in[kWeight].shape;
  return x[0] * x[1] * x[2] * w[0] * w[1] * w[2] * w[3];
}

// What is larger the runtime does not take (write/pte/check_load.h).
static i32 narrow(i64 v) { return static_cast<i32>(std::clamp<i64>(v, INT32_MIN, INT32_MAX)); }

ConvTranspose2dArgs kernel_args(const ConvTranspose2d& a, const Shape& x, const Shape& w,
                                const Shape& y) {
  ConvTranspose2dArgs args{};
  args.n = narrow(x[0]), args.in_h = narrow(x[1]), args.in_w = narrow(x[2]),
  args.in_c = narrow(x[3]);
  args.out_h = narrow(y[1]), args.out_w = narrow(y[2]), args.out_c = narrow(y[3]);
  args.kernel_h = narrow(w[1]), args.kernel_w = narrow(w[2]);
  args.stride_h = narrow(a.stride.h), args.stride_w = narrow(a.stride.w),
  args.pad_h = narrow(a.pad.h), args.pad_w = narrow(a.pad.w);
  return args;
}

static Result<Lowered> cortex_m(const ConvTranspose2d& a, const LowerContext& c) {
  const Type &x = c.in[kX], &weight = c.in[kWeight], &y = c.out[0];
  if (auto r = require_int8(x, "x", "cortex_m.conv_transpose2d.dtype")) return *r;
  if (auto r = require_int8(weight, "weight", "cortex_m.conv_transpose2d.dtype")) return *r;
  if (auto r = require_int8(y, "y", "cortex_m.conv_transpose2d.dtype")) return *r;
  if (!c.data[kWeight])
    return Refusal{"weight is not a constant", "", "", "cortex_m.conv_transpose2d.weight"};
  if (x.quant.per_channel() || (weight.quant.per_channel() && weight.quant.axis != 0))
    return Refusal{"x must be quantized per tensor, weight per tensor or by output channel", "", "",
                   "cortex_m.conv_transpose2d.granularity"};
  for (const i32 zero : weight.quant.zero_point)
    if (zero != 0)
      return Refusal{"weight must be quantized symmetrically", "zero point " + std::to_string(zero),
                     "0", "cortex_m.conv_transpose2d.symmetric"};
  if (a.dilation != HW{1, 1} ||
      a.groups != 1)  // ir/rewrite/kernel_forms.cpp puts zeros into the weight instead
    return Refusal{"the kernel has neither dilation nor groups",
                   to_text(Shape{a.dilation.h, a.dilation.w, a.groups}), "1,1,1",
                   "cortex_m.conv_transpose2d.window"};
  const ConvTranspose2dArgs args = kernel_args(a, x.shape, weight.shape, y.shape);
  if (const char* why = why_stock_conv_transpose2d_differs(args, c.cmsis_nn))
    return Refusal{why, "", "", "cortex_m.conv_transpose2d.stock"};
  const i64 oc = weight.shape[0];
  auto multipliers = channel_multipliers(x.quant, weight.quant, y.quant, oc, form_of(c.rounding),
                                         "cortex_m.conv_transpose2d.scale",
                                         a.of_bytes ? Product::single : Product::wide);
  if (!multipliers) return multipliers.why;
  if (auto why = why_sums_wrap(c, *multipliers, "cortex_m.conv_transpose2d.sums"))
    return *std::move(why);
  DenseNumbers n = dense_numbers(c, *std::move(multipliers.value),
                                 step_range(a.bounds, y.quant, of_bounds(c.rounding)));
  n.is_transposed = true;
  n.set_window(a.stride, a.pad, a.dilation);

  CallBuilder call("cortex_m::quantized_transpose_conv2d", c.in.size(), 1);
  call.in(kX, channels_last_face(x.shape)).in(kWeight, plain_face(weight.shape));
  if (c.in.size() > 2) call.in(kBias, plain_face({oc}));
  else call.none();
  call.integers({a.stride.h, a.stride.w})
      .integers({a.pad.h, a.pad.w})
      .integers({a.output_pad.h, a.output_pad.w})
      .integers({1, 1});
  call.integer(-n.a.x_zero).integer(n.a.y_zero);
  add_multipliers(call, n.multipliers);
  call.integer(n.range.low).integer(n.range.high);
  call.scratch(conv_transpose2d_scratch_bytes(args, c.isa), {})
      .scratch(conv_transpose2d_output_scratch_bytes(args), {});
  return call.out(0, channels_last_face(y.shape)).numbers(std::move(n)).done();
}

static constexpr QuantSpec kQuant[] = {
    {DType::s8, Gran::per_tensor},            // x
    {DType::s8, Gran::per_channel, 0, true},  // weight, by output channel
    {DType::s32, Gran::derived, 0, true},     // bias
    {DType::s8, Gran::per_tensor},            // y
};

// Limits: rules of ExecuTorch's NXP backend (converters of the operator); the numbers are the
// target's.
static constexpr NpuRow<ConvTranspose2d> kNpu[] = {
    {"weight", "the weight is a constant",
     must_hold("the weight is computed, and the NPU takes a constant only"),
     operand_is_constant<ConvTranspose2d, kWeight>},
    {"bias", "the bias is a constant",
     must_hold("the bias is computed, and the NPU takes a constant only"),
     operand_is_constant<ConvTranspose2d, kBias>},
    {"symmetric", "the weight's zero points are 0",
     must_hold("a zero point of the weight is not 0"),
     operand_is_symmetric<ConvTranspose2d, kWeight>},
    {"groups", "groups", NpuTest::equals,
     [](const ConvTranspose2d& a, const NpuOperands&) { return std::optional<i64>(a.groups); },
     nullptr, 1},
    {"dilation", "dilation", NpuTest::equals,
     [](const ConvTranspose2d& a, const NpuOperands&) {
       return std::optional<i64>(std::max(a.dilation.h, a.dilation.w));
     },
     nullptr, 1},
    {"kernel", "kernel height or width", NpuTest::at_most,
     [](const ConvTranspose2d&, const NpuOperands& o) {
       return std::optional<i64>(std::max(o.in[kWeight].shape[1], o.in[kWeight].shape[2]));
     },
     &NpuLimits::kernel},
    {"stride", "stride", NpuTest::at_most,
     [](const ConvTranspose2d& a, const NpuOperands&) {
       return std::optional<i64>(std::max(a.stride.h, a.stride.w));
     },
     &NpuLimits::transposed_stride},
    {"stride_kernel", "stride minus kernel extent, along either axis", NpuTest::at_most,
     [](const ConvTranspose2d& a, const NpuOperands& o) {
       return std::optional<i64>(
           std::max(a.stride.h - o.in[kWeight].shape[1], a.stride.w - o.in[kWeight].shape[2]));
     },
     nullptr, 0},
    {"padding", "padding minus kernel extent, along either axis", NpuTest::at_most,
     [](const ConvTranspose2d& a, const NpuOperands& o) {
       return std::optional<i64>(
           std::max(a.pad.h - o.in[kWeight].shape[1], a.pad.w - o.in[kWeight].shape[2]));
     },
     nullptr, -1},
    {"sums", "sums of products and bias stay in int32", kSumsStay,
     sums_stay_in_int32<ConvTranspose2d>},
    {"taps", "kernel taps, channels rounded up to the MAC width", NpuTest::at_most,
     [](const ConvTranspose2d&, const NpuOperands& o) {
       return std::optional<i64>(o.in[kWeight].shape[1] * o.in[kWeight].shape[2] *
                                 round_up(o.in[kWeight].shape[3], o.limits.vector_length));
     },
     &NpuLimits::taps},
};
static constexpr NpuSupport<ConvTranspose2d> kNpuSupport{
    .rows = kNpu, .builtin = "TRANSPOSE_CONV", .absent = {}};

static ConvTranspose2d twice() {
  ConvTranspose2d a;
  a.stride = {2, 2};
  return a;
}
static OpFacts facts_of(const ConvTranspose2d&) { return facts(Family::layer); }
static std::vector<Example<ConvTranspose2d>> examples() {
  return {{"3x3", {}, {{1, 6, 9, 4}, {5, 3, 3, 4}, {5}}},
          {"stride 2", twice(), {{1, 5, 3, 6}, {4, 2, 2, 6}}}};
}

const OpDef<ConvTranspose2d>& def_of(const ConvTranspose2d&) {
  static constexpr OpDef<ConvTranspose2d> d{.name = "conv_transpose2d",
                                            .infer = infer,
                                            .quantize = kQuant,
                                            .macs = count_macs,
                                            .execute = execute,
                                            .cortex_m = cortex_m,
                                            .npu = kNpuSupport,
                                            .facts = facts_of,
                                            .axes = kNoAxisRules<ConvTranspose2d>,
                                            .view = nullptr,
                                            .forms = {.simpler = nullptr,
                                                      .kernel = kernel_form,
                                                      .last = nullptr,
                                                      .portable = kernel_form},
                                            .examples = examples,
                                            .function = nullptr};
  return d;
}

}  // namespace deuteron
