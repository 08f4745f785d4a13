// SPDX-License-Identifier: Apache-2.0
#include "ops/avg_pool2d/avg_pool2d.h"

#include <algorithm>

#include "ops/avg_pool2d/scratch.h"
#include "ops/common/multiplier.h"
#include "ops/common/pooling.h"
#include "ops/common/refusals.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const AvgPool2d& a, TypeView in) {
  if (in.size() != 1 || in[0].rank() != 4)
    return Refusal{"avg_pool2d takes x [n,h,w,c]", "", "", "avg_pool2d.rank"};
  const Shape& x = in[0].shape;
  if (a.stride.h < 1 || a.stride.w < 1 || a.kernel.h < 1 || a.kernel.w < 1 ||
      a.pad.h * 2 > a.kernel.h || a.pad.w * 2 > a.kernel.w)
    return Refusal{"padding is more than half the kernel", to_text(Shape{a.pad.h, a.pad.w}),
                   to_text(Shape{a.kernel.h / 2, a.kernel.w / 2}), "avg_pool2d.pad"};
  const i64 h = pooled_extent(x[1], a.kernel.h, a.stride.h, a.pad.h, 1, a.ceil_mode);
  const i64 w = pooled_extent(x[2], a.kernel.w, a.stride.w, a.pad.w, 1, a.ceil_mode);
  if (h < 1 || w < 1)
    return Refusal{"the kernel is larger than the padded image",
                   to_text(Shape{a.kernel.h, a.kernel.w}), to_text(x), "avg_pool2d.extent"};
  return std::vector<Type>{{in[0].dtype, {x[0], h, w, x[3]}, {}}};
}

static Result<Lowered> cortex_m(const AvgPool2d& a, const LowerContext& c) {
  const Type &x = c.in[0], &y = c.out[0];
  if (auto r = require_int8(x, "x", "cortex_m.avg_pool2d.dtype")) return *r;
  if (auto r = require_int8(y, "y", "cortex_m.avg_pool2d.dtype")) return *r;
  if (auto r = require_same_quant(x, y, "cortex_m.avg_pool2d.quant")) return *r;
  const bool padded = a.pad.h != 0 || a.pad.w != 0;
  // The kernel counts only elements inside the image. Without padding both ways to count agree: a
  // window is cut at the image's end.
  if (a.count_include_pad && padded)
    return Refusal{"the kernel does not count padding", "count_include_pad", "no padding",
                   "cortex_m.avg_pool2d.pad"};
  const bool whole = (y.shape[1] - 1) * a.stride.h + a.kernel.h <= x.shape[1] &&
                     (y.shape[2] - 1) * a.stride.w + a.kernel.w <= x.shape[2];
  if (a.divisor != 0 && (a.divisor != a.kernel.h * a.kernel.w || padded || !whole))
    return Refusal{"the kernel divides by the number of elements", std::to_string(a.divisor),
                   std::to_string(a.kernel.h * a.kernel.w), "cortex_m.avg_pool2d.divisor"};
  const auto m =
      checked_multiplier(x.quant.scale[0], ties_of(c.rounding), "cortex_m.avg_pool2d.scale");
  if (!m) return m.why;
  AvgPool2dArgs kernel_args{};
  kernel_args.channels = static_cast<int32_t>(x.shape[3]);
  // An odd number of elements has no halves. Stock firmware rounds them away from zero.
  const bool has_halves = padded || !whole || a.kernel.h * a.kernel.w % 2 == 0;
  const bool up = a.halves_up && has_halves && !c.for_stock;

  CallBuilder call(up ? "deuteron::avg_pool2d_halves_up" : "cortex_m::quantized_avg_pool2d",
                   c.in.size(), 1);
  call.in(0, channels_last_face(x.shape));
  call.integers({a.kernel.h, a.kernel.w})
      .integers({a.stride.h, a.stride.w})
      .integers({a.pad.h, a.pad.w})
      .boolean(a.ceil_mode);
  if (up) return call.out(0, channels_last_face(y.shape)).done();
  call.integer(x.quant.zero_point[0]).integer(m->value).integer(m->shift);
  call.scratch(avg_pool2d_scratch_bytes(kernel_args, c.isa), {})
      .out(0, channels_last_face(y.shape));
  return call.done();
}

static constexpr QuantSpec kQuant[] = {{DType::s8, Gran::per_tensor}, {DType::s8, Gran::shared}};

// Limits: rules of ExecuTorch's NXP backend (converters of the operator); the numbers are the
// target's.
static constexpr NpuRow<AvgPool2d> kNpu[] = {
    {"kernel", "window height or width", NpuTest::at_most,
     [](const AvgPool2d& a, const NpuOperands&) {
       return std::optional<i64>(std::max(a.kernel.h, a.kernel.w));
     },
     &NpuLimits::kernel},
    {"stride", "stride", NpuTest::at_most,
     [](const AvgPool2d& a, const NpuOperands&) {
       return std::optional<i64>(std::max(a.stride.h, a.stride.w));
     },
     &NpuLimits::stride},
    {"padding", "padding is counted, or there is none",
     must_hold("padding is left out of the average"),
     [](const AvgPool2d& a, const NpuOperands&) {
       return std::optional<i64>(a.pad == HW{} || a.count_include_pad);
     }},
    {"ceil_mode", "no window reaches past the padded image",
     must_hold("a window reaches past the padded image"), windows_stay_inside<AvgPool2d>},
    {"divisor", "the divisor is the size of the window",
     must_hold("the divisor is not the size of the window"),
     [](const AvgPool2d& a, const NpuOperands&) {
       return std::optional<i64>(a.divisor == 0 || a.divisor == a.kernel.h * a.kernel.w);
     }},
    {"parameters", "operand and result have one scale and zero point",
     must_hold("the operand and the result have different scales or zero points"),
     parameters_are_shared<AvgPool2d>},
};
static constexpr NpuSupport<AvgPool2d> kNpuSupport{
    .rows = kNpu, .builtin = "AVERAGE_POOL_2D", .absent = {}};

static AvgPool2d pool(HW kernel, HW stride) {
  AvgPool2d a;
  a.kernel = kernel, a.stride = stride;
  return a;
}
static constexpr AxisRules<AvgPool2d> kAxes{
    .reordered = nullptr,
    .window = [](const AvgPool2d& a, TypeView) -> std::optional<ImageWindow> {
      return ImageWindow{{a.kernel.h, a.stride.h, 1, a.pad.h},
                         {a.kernel.w, a.stride.w, 1, a.pad.w}};
    },
    .has_bands =
        [](const AvgPool2d& a, TypeView in, TypeView out) {
          return reads_whole_rows(a, {1, 1}, in[0].shape, out[0].shape);
        },
    .band = same_for_every_band<AvgPool2d>};
Result<Lowered> float_form(const AvgPool2d& a, const LowerContext& c) {
  // Stock firmware's kernel takes the order n,c,h,w alone. One channel lies in both orders; the
  // form for portable kernels leaves one.
  const auto face = [](const Shape& s) {
    return s[3] == 1 ? plain_face({s[0], 1, s[1], s[2]}) : channels_last_face(s);
  };
  CallBuilder call("aten::avg_pool2d", c.in.size(), 1);
  call.in(0, face(c.in[0].shape))
      .integers({a.kernel.h, a.kernel.w})
      .integers({a.stride.h, a.stride.w})
      .integers({a.pad.h, a.pad.w});
  call.boolean(a.ceil_mode).boolean(a.count_include_pad);
  if (a.divisor != 0) call.integer(a.divisor);
  else call.none();
  call.out(0, face(c.out[0].shape));
  return call.done();
}

static OpFacts facts_of(const AvgPool2d&) { return facts(Family::pool); }
static std::vector<Example<AvgPool2d>> examples() {
  return {{"2x2", pool({2, 2}, {2, 2}), {{1, 6, 10, 3}}},
          {"3x1 over neighbours", pool({3, 1}, {1, 1}), {{2, 7, 5, 4}}}};
}

const OpDef<AvgPool2d>& def_of(const AvgPool2d&) {
  static constexpr OpDef<AvgPool2d> d{.name = "avg_pool2d",
                                      .infer = infer,
                                      .quantize = kQuant,
                                      .macs = no_macs,
                                      .execute = execute,
                                      .cortex_m = cortex_m,
                                      .npu = kNpuSupport,
                                      .facts = facts_of,
                                      .axes = kAxes,
                                      .view = nullptr,
                                      .forms = {.simpler = simpler_form,
                                                .kernel = nullptr,
                                                .last = nullptr,
                                                .portable = portable_form},
                                      .examples = examples,
                                      .function = nullptr};
  return d;
}

}  // namespace deuteron
