// SPDX-License-Identifier: Apache-2.0
#include "ops/pad/pad.h"

#include <algorithm>

#include "base/tensor/axes.h"
#include "ops/common/refusals.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const Pad& a, TypeView in) {
  if (in.size() != 1 || static_cast<i64>(a.before.size()) != in[0].rank() ||
      a.after.size() != a.before.size())
    return Refusal{"pad needs one entry for each axis", std::to_string(a.before.size()),
                   std::to_string(in.size() == 1 ? in[0].rank() : 0), "pad.rank"};
  Shape y = in[0].shape;
  for (size_t k = 0; k < y.size(); ++k) {
    y[k] += a.before[k] + a.after[k];
    if (y[k] < 1)
      return Refusal{"cropping leaves nothing of axis " + std::to_string(k), std::to_string(y[k]),
                     "1", "pad.extent"};
  }
  return std::vector<Type>{{in[0].dtype, std::move(y), {}}};
}

static Result<Lowered> cortex_m(const Pad& a, const LowerContext& c) {
  const Type &x = c.in[0], &y = c.out[0];
  if (auto r = require_int8(x, "x", "cortex_m.pad.dtype")) return *r;
  if (auto r = require_int8(y, "y", "cortex_m.pad.dtype")) return *r;
  if (auto r = require_same_quant(x, y, "cortex_m.pad.quant")) return *r;
  if (x.rank() < 1 || x.rank() > 4)
    return Refusal{"the kernel takes rank 1 to 4", std::to_string(x.rank()), "4",
                   "cortex_m.pad.rank"};
  for (size_t k = 0; k < a.before.size(); ++k)
    if (a.before[k] < 0 || a.after[k] < 0)
      return Refusal{"the kernel cannot crop", std::to_string(std::min(a.before[k], a.after[k])),
                     "0", "cortex_m.pad.negative"};
  std::vector<i64> before(4, 0), after(4, 0);
  std::copy_backward(a.before.begin(), a.before.end(), before.end());
  std::copy_backward(a.after.begin(), a.after.end(), after.end());
  const i32 value = quantize_value(a.value, x.quant.scale[0], x.quant.zero_point[0], -128, 127);

  CallBuilder call("cortex_m::pad", c.in.size(), 1);
  call.in(0, elementwise_face(x.shape))
      .integers(before)
      .integers(after)
      .integer(value)
      .out(0, elementwise_face(y.shape));
  return call.done();
}

static constexpr QuantSpec kQuant[] = {{DType::s8, Gran::per_tensor}, {DType::s8, Gran::shared}};

// An axis without padding is walked through with the one around it.
static std::optional<i64> padded_axes(const Pad& a, const NpuOperands&) {
  i64 count = 0;
  for (size_t k = 0; k < a.before.size(); ++k)
    count += k == 0 || a.before[k] != 0 || a.after[k] != 0;
  return count;
}

// Limits: rules of ExecuTorch's NXP backend (converters of the operator); the numbers are the
// target's.
static constexpr NpuRow<Pad> kNpu[] = {
    {"crop", "smallest extent that is added", NpuTest::at_least,
     [](const Pad& a, const NpuOperands&) {
       return std::optional<i64>(std::min(*std::min_element(a.before.begin(), a.before.end()),
                                          *std::min_element(a.after.begin(), a.after.end())));
     },
     nullptr, 0},
    {"parameters", "operand and result have one scale and zero point",
     must_hold("the operand and the result have different scales or zero points"),
     parameters_are_shared<Pad>},
    {"rank", "axes, after merging those without padding", NpuTest::at_most, padded_axes,
     &NpuLimits::rank},
};
static constexpr NpuSupport<Pad> kNpuSupport{.rows = kNpu, .builtin = "PAD, PADV2", .absent = {}};

static constexpr AxisRules<Pad> kAxes{
    .reordered = [](const Pad& a, const Axes& perm) -> std::optional<Pad> {
      if (a.before.size() != perm.size()) return std::nullopt;
      return Pad{permuted(a.before, inverse(perm)), permuted(a.after, inverse(perm)), a.value};
    },
    .window = nullptr,
    .has_bands = nullptr,
    .band = nullptr};
static OpFacts facts_of(const Pad&) { return facts(Family::movement, Values::padded); }
static std::vector<Example<Pad>> examples() {
  return {{"rows and columns", {{0, 1, 1, 0}, {0, 1, 1, 0}, 0}, {{1, 6, 9, 4}}},
          {"before rows, with ones", {{0, 2, 0, 0}, {0, 0, 0, 0}, 1}, {{2, 5, 3, 7}}}};
}

const OpDef<Pad>& def_of(const Pad&) {
  static constexpr OpDef<Pad> d{
      .name = "pad",
      .infer = infer,
      .quantize = kQuant,
      .macs = no_macs,
      .execute = execute,
      .cortex_m = cortex_m,
      .npu = kNpuSupport,
      .facts = facts_of,
      .axes = kAxes,
      .view = nullptr,
      .forms = {.simpler = simpler_form, .kernel = nullptr, .last = nullptr, .portable = nullptr},
      .examples = examples,
      .function = nullptr};
  return d;
}

}  // namespace deuteron
