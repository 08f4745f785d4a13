// SPDX-License-Identifier: Apache-2.0
#include "ops/max_pool2d/max_pool2d.h"

#include <algorithm>

#include "ops/common/bounds.h"
#include "ops/common/pooling.h"
#include "ops/common/refusals.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const MaxPool2d& a, TypeView in) {
  if (in.size() != 1 || in[0].rank() != 4)
    return Refusal{"max_pool2d takes x [n,h,w,c]", "", "", "max_pool2d.rank"};
  const Shape& x = in[0].shape;
  if (a.stride.h < 1 || a.stride.w < 1 || a.kernel.h < 1 || a.kernel.w < 1 || a.dilation.h < 1 ||
      a.dilation.w < 1 || a.pad.h * 2 > a.kernel.h || a.pad.w * 2 > a.kernel.w)
    return Refusal{"padding is more than half the kernel", to_text(Shape{a.pad.h, a.pad.w}),
                   to_text(Shape{a.kernel.h / 2, a.kernel.w / 2}), "max_pool2d.pad"};
  const i64 h = pooled_extent(x[1], a.kernel.h, a.stride.h, a.pad.h, a.dilation.h, a.ceil_mode);
  const i64 w = pooled_extent(x[2], a.kernel.w, a.stride.w, a.pad.w, a.dilation.w, a.ceil_mode);
  if (h < 1 || w < 1)
    return Refusal{"the kernel is larger than the padded image",
                   to_text(Shape{a.kernel.h, a.kernel.w}), to_text(x), "max_pool2d.extent"};
  return std::vector<Type>{{in[0].dtype, {x[0], h, w, x[3]}, {}}};
}

static Result<Lowered> cortex_m(const MaxPool2d& a, const LowerContext& c) {
  const Type &x = c.in[0], &y = c.out[0];
  if (auto r = require_int8(x, "x", "cortex_m.max_pool2d.dtype")) return *r;
  if (auto r = require_int8(y, "y", "cortex_m.max_pool2d.dtype")) return *r;
  if (auto r = require_same_quant(x, y, "cortex_m.max_pool2d.quant")) return *r;
  if (a.dilation != HW{1, 1})
    return Refusal{"the kernel has no dilation", to_text(Shape{a.dilation.h, a.dilation.w}), "1,1",
                   "cortex_m.max_pool2d.dilation"};
  const StepRange range = step_range(a.bounds, y.quant, of_bounds(c.rounding));

  // The kernel cuts windows at the image's end and takes the result's extents as they are, so
  // ceil_mode needs no word of its own.
  CallBuilder call("cortex_m::quantized_max_pool2d", c.in.size(), 1);
  call.in(0, channels_last_face(x.shape));
  call.integers({a.kernel.h, a.kernel.w})
      .integers({a.stride.h, a.stride.w})
      .integers({a.pad.h, a.pad.w})
      .integers({1, 1})
      .boolean(false);
  call.integer(x.quant.zero_point[0])
      .integer(y.quant.zero_point[0])
      .integer(range.low)
      .integer(range.high);
  call.out(0, channels_last_face(y.shape));
  return call.done();
}

static constexpr QuantSpec kQuant[] = {{DType::s8, Gran::per_tensor}, {DType::s8, Gran::shared}};

static constexpr i64 kWindow = 1 << 18;  // ExecuTorch's backend has no rule for it; along one axis
                                         // of an image the open machine has as many pixels

// Limits: rules of ExecuTorch's NXP backend (converters of the operator); the numbers are the
// target's.
static constexpr NpuRow<MaxPool2d> kNpu[] = {
    {"kernel", "window height or width", NpuTest::at_most,
     [](const MaxPool2d& a, const NpuOperands&) {
       return std::optional<i64>(std::max(a.kernel.h, a.kernel.w));
     },
     nullptr, kWindow},
    {"stride", "stride", NpuTest::at_most,
     [](const MaxPool2d& a, const NpuOperands&) {
       return std::optional<i64>(std::max(a.stride.h, a.stride.w));
     },
     &NpuLimits::stride},
    {"dilation", "dilation", NpuTest::equals,
     [](const MaxPool2d& a, const NpuOperands&) {
       return std::optional<i64>(std::max(a.dilation.h, a.dilation.w));
     },
     nullptr, 1},
    {"ceil_mode", "no window reaches past the padded image",
     must_hold("a window reaches past the padded image"), windows_stay_inside<MaxPool2d>},
    {"parameters", "operand and result have one scale and zero point",
     must_hold("the operand and the result have different scales or zero points"),
     parameters_are_shared<MaxPool2d>},
};
static constexpr NpuSupport<MaxPool2d> kNpuSupport{
    .rows = kNpu, .builtin = "MAX_POOL_2D", .absent = {}};

static MaxPool2d pool(HW kernel, HW stride) {
  MaxPool2d a;
  a.kernel = kernel, a.stride = stride;
  return a;
}
static constexpr AxisRules<MaxPool2d> kAxes{
    .reordered = nullptr,
    .window = [](const MaxPool2d& a, TypeView) -> std::optional<ImageWindow> {
      return ImageWindow{{a.kernel.h, a.stride.h, a.dilation.h, a.pad.h},
                         {a.kernel.w, a.stride.w, a.dilation.w, a.pad.w}};
    },
    .has_bands =
        [](const MaxPool2d& a, TypeView in, TypeView out) {
          return reads_whole_rows(a, a.dilation, in[0].shape, out[0].shape);
        },
    .band = same_for_every_band<MaxPool2d>};
static OpFacts facts_of(const MaxPool2d&) { return facts(Family::pool, Values::chosen); }
static std::vector<Example<MaxPool2d>> examples() {
  return {{"2x2", pool({2, 2}, {2, 2}), {{1, 6, 10, 3}}},
          {"3x1 over neighbours", pool({3, 1}, {1, 1}), {{2, 7, 5, 4}}}};
}

const OpDef<MaxPool2d>& def_of(const MaxPool2d&) {
  static constexpr OpDef<MaxPool2d> d{
      .name = "max_pool2d",
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
      .function = nullptr};
  return d;
}

}  // namespace deuteron
