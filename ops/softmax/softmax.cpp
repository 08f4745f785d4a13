// SPDX-License-Identifier: Apache-2.0
#include "ops/softmax/softmax.h"

#include <algorithm>
#include <cmath>

#include "ops/common/refusals.h"
#include "ops/softmax/multiplier.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const Softmax& a, TypeView in) {
  if (in.size() != 1 || in[0].rank() < 1 || a.axis < 0 || a.axis >= in[0].rank())
    return Refusal{"softmax needs an axis of x", std::to_string(a.axis),
                   std::to_string(in.size() == 1 ? in[0].rank() : 0), "softmax.axis"};
  if (!std::isfinite(a.beta) || a.beta <= 0)
    return Refusal{"the factor of x must be positive and finite", fmt::format("{:g}", a.beta),
                   "0 < beta", "softmax.beta"};
  return std::vector<Type>{{in[0].dtype, in[0].shape, {}}};
}

static Result<Lowered> cortex_m(const Softmax& a, const LowerContext& c) {
  const Type &x = c.in[0], &y = c.out[0];
  if (auto r = require_int8(x, "x", "cortex_m.softmax.dtype")) return *r;
  if (auto r = require_int8(y, "y", "cortex_m.softmax.dtype")) return *r;
  if (a.axis != x.rank() - 1)
    return Refusal{"the kernel works over the last axis", std::to_string(a.axis),
                   std::to_string(x.rank() - 1), "cortex_m.softmax.axis"};
  if (y.quant.scale[0] != 1.0f / 256 || y.quant.zero_point[0] != -128)
    return Refusal{"the result must have scale 1/256 and zero point -128",
                   fmt::format("{:g}", y.quant.scale[0]), "0.00390625", "cortex_m.softmax.quant"};
  const auto m = softmax_multiplier(x.quant, a.beta, ties_of(c.rounding), "cortex_m.softmax.scale");
  if (!m) return m.why;

  CallBuilder call("cortex_m::softmax", c.in.size(), 1);
  call.in(0, plain_face(x.shape))
      .integer(-1)
      .integer(x.quant.zero_point[0])
      .integer(-128)
      .integer(m->input.value)
      .integer(m->input.shift)
      .integer(m->diff_min);
  call.out(0, plain_face(y.shape));
  return call.done();
}

static constexpr QuantSpec kQuant[] = {{DType::s8, Gran::per_tensor},
                                       {DType::s8, Gran::fixed, 0, false, 1.0f / 256, -128}};

// Limits: rules of ExecuTorch's NXP backend (converters of the operator); the numbers are the
// target's.
static constexpr NpuRow<Softmax> kNpu[] = {
    {"axis", "the axis is the last one in memory",
     must_hold("the axis is not the last one in memory"),
     [](const Softmax& a, const NpuOperands& o) {
       return std::optional<i64>(a.axis == o.in[0].rank() - 1);
     }},
    {"channels", "channels", NpuTest::at_most,
     [](const Softmax& a, const NpuOperands& o) {
       return std::optional<i64>(o.in[0].shape[a.axis]);
     },
     &NpuLimits::softmax_channels},
    {"rows", "rows", NpuTest::at_most,
     [](const Softmax& a, const NpuOperands& o) {
       return std::optional<i64>(o.in[0].elements() / std::max<i64>(1, o.in[0].shape[a.axis]));
     },
     &NpuLimits::softmax_rows},
    {"elements", "channels times rows", NpuTest::at_most,
     [](const Softmax&, const NpuOperands& o) { return std::optional<i64>(o.in[0].elements()); },
     &NpuLimits::softmax_elements},
    {"parameters", "the result has scale 1/256 and zero point -128",
     must_hold("the result has not scale 1/256 and zero point -128"),
     [](const Softmax&, const NpuOperands& o) {
       return o.is_quantized() ? std::optional<i64>(o.out[0].quant.scale[0] == 1.0f / 256 &&
                                                    o.out[0].quant.zero_point[0] == -128)
                               : std::nullopt;
     }},
};
static constexpr NpuSupport<Softmax> kNpuSupport{.rows = kNpu, .builtin = "SOFTMAX", .absent = {}};

static constexpr AxisRules<Softmax> kAxes{
    // Worth it only where the axis becomes the last one, which is the one that kernels take.
    .reordered = [](const Softmax& a, const Axes& perm) -> std::optional<Softmax> {
      const auto last = static_cast<i64>(perm.size()) - 1;
      if (a.axis == last || perm[static_cast<size_t>(a.axis)] != last) return std::nullopt;
      return Softmax{last, a.beta};
    },
    .window = nullptr,
    .has_bands = nullptr,
    .band = nullptr};
static OpFacts facts_of(const Softmax&) { return facts(Family::slices); }
static std::vector<Example<Softmax>> examples() {
  return {{"of a row", {1}, {{2, 16}}},
          {"with a factor", {.axis = 1, .beta = 0.3f}, {{3, 11}}},
          {"of channels", {3}, {{1, 5, 3, 7}}},
          {"with an axis of 1 behind", {1}, {{2, 12, 1}}}};
}

const OpDef<Softmax>& def_of(const Softmax&) {
  static constexpr OpDef<Softmax> d{.name = "softmax",
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
                                              .kernel = kernel_form,
                                              .last = nullptr,
                                              .portable = portable_form},
                                    .examples = examples,
                                    .function = nullptr};
  return d;
}

}  // namespace deuteron
