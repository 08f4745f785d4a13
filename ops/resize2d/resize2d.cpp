// SPDX-License-Identifier: Apache-2.0
#include "ops/resize2d/resize2d.h"

#include <algorithm>
#include <cmath>

#include "ops/op.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const Resize2d& a, TypeView in) {
  if (in.size() != 1 || in[0].rank() != 4)
    return Refusal{"resize2d takes x [n,h,w,c]", "", "", "resize2d.rank"};
  const Shape& x = in[0].shape;
  if (a.mode != Resize2d::kNearest && a.mode != Resize2d::kBilinear)
    return Refusal{"the mode does not exist", std::to_string(a.mode), "1", "resize2d.mode"};
  if (a.align_corners && a.half_pixel)
    return Refusal{"align_corners and half_pixel exclude each other", "", "", "resize2d.position"};
  if (a.size.h < 1 || a.size.w < 1 || x[1] < 1 || x[2] < 1)
    return Refusal{"an image without elements cannot be resized",
                   to_text(Shape{x[1], x[2], a.size.h, a.size.w}), "1..", "resize2d.extent"};
  return std::vector<Type>{{in[0].dtype, {x[0], a.size.h, a.size.w, x[3]}, {}}};
}

Axes nearest_sources(const Resize2d& a, i64 in, i64 out) {
  Axes from;
  const bool corners = a.align_corners && out > 1;
  const float step = corners ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                             : static_cast<float>(in) / static_cast<float>(out);
  for (i64 o = 0; o < out; ++o) {
    const float at = (static_cast<float>(o) + (a.half_pixel ? 0.5f : 0.0f)) * step;
    from.push_back(
        std::min(static_cast<i64>(a.align_corners ? std::round(at) : std::floor(at)), in - 1));
  }
  return from;
}

std::vector<ResizedElement> sources_of(const Resize2d& a, i64 in, i64 out) {
  std::vector<ResizedElement> from;
  float step = static_cast<float>(in) / static_cast<float>(out);
  if (a.align_corners)
    step = out > 1 ? static_cast<float>(in - 1) / static_cast<float>(out - 1) : 0.0f;
  for (i64 o = 0; o < out; ++o) {
    const float middle = (static_cast<float>(o) + 0.5f) * step - 0.5f;
    const float at = a.half_pixel ? std::max(middle, 0.0f) : static_cast<float>(o) * step;
    const i64 first = std::min(static_cast<i64>(at), in - 1);
    from.push_back(
        {first, std::min(first + 1, in - 1), std::min(at - static_cast<float>(first), 1.0f)});
  }
  return from;
}

static constexpr QuantSpec kQuant[] = {{DType::s8, Gran::per_tensor}, {DType::s8, Gran::shared}};

// The factor of one direction, corners to corners when they are aligned; 0: none of 1, 2, 4, 8, ..
static i64 factor_of(const Resize2d& a, i64 in, i64 out) {
  const i64 from = a.align_corners ? in - 1 : in, to = a.align_corners ? out - 1 : out;
  if (from < 1 || to % from != 0) return 0;
  const i64 factor = to / from;
  return (factor & (factor - 1)) == 0 ? factor : 0;
}
// Limits: rules of ExecuTorch's NXP backend (converters of the operator); the numbers are the
// target's.
static constexpr NpuRow<Resize2d> kNpu[] = {
    {"whole_factor", "both extents grow by a power of two",
     must_hold("an extent does not grow by a power of two"),
     [](const Resize2d& a, const NpuOperands& o) {
       const Shape &x = o.in[0].shape, &y = o.out[0].shape;
       return std::optional<i64>(factor_of(a, x[1], y[1]) > 0 && factor_of(a, x[2], y[2]) > 0);
     }},
    {"factor", "factor by which an extent grows", NpuTest::at_most,
     [](const Resize2d& a, const NpuOperands& o) {
       const Shape &x = o.in[0].shape, &y = o.out[0].shape;
       return std::optional<i64>(std::max(factor_of(a, x[1], y[1]), factor_of(a, x[2], y[2])));
     },
     &NpuLimits::resize_factor},
    {"parameters", "operand and result have one scale and zero point",
     must_hold("the operand and the result have different scales or zero points"),
     parameters_are_shared<Resize2d>},
};
static constexpr NpuSupport<Resize2d> kNpuSupport{
    .rows = kNpu, .builtin = "RESIZE_NEAREST_NEIGHBOR, RESIZE_BILINEAR", .absent = {}};

static OpFacts facts_of(const Resize2d& a) {
  return facts(Family::movement,
               a.mode == Resize2d::kNearest ? Values::moved : Values::interpolated);
}
static std::vector<Example<Resize2d>> examples() {
  return {{"nearest, twice as large", {Resize2d::kNearest, {10, 6}, false, false}, {{1, 5, 3, 7}}},
          {"bilinear, twice as large", {Resize2d::kBilinear, {10, 6}, false, true}, {{1, 5, 3, 7}}},
          {"bilinear, corners to corners",
           {Resize2d::kBilinear, {4, 11}, true, false},
           {{2, 6, 5, 18}}}};
}

const OpDef<Resize2d>& def_of(const Resize2d&) {
  static constexpr OpDef<Resize2d> d{
      .name = "resize2d",
      .infer = infer,
      .quantize = kQuant,
      .macs = no_macs,
      .execute = execute,
      .cortex_m = deuteron_call,
      .npu = kNpuSupport,
      .facts = facts_of,
      .axes = kNoAxisRules<Resize2d>,
      .view = nullptr,
      .forms = {.simpler = nullptr, .kernel = kernel_form, .last = nullptr, .portable = nullptr},
      .examples = examples,
      .function = nullptr};
  return d;
}

}  // namespace deuteron
