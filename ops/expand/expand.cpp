// SPDX-License-Identifier: Apache-2.0
#include "ops/expand/expand.h"

#include "base/tensor/axes.h"
#include "ops/common/broadcast.h"
#include "ops/common/refusals.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const Expand& a, TypeView in) {
  const bool fits = in.size() == 1 && in[0].rank() == static_cast<i64>(a.shape.size());
  for (size_t k = 0; k < a.shape.size(); ++k)
    if (!fits || a.shape[k] < 0 || (in[0].shape[k] != a.shape[k] && in[0].shape[k] != 1))
      return Refusal{"only axes of extent 1 can be repeated",
                     in.size() == 1 ? to_text(in[0].shape) : "", to_text(a.shape), "expand.shape"};
  if (!fits) return Refusal{"the result has another rank", "", to_text(a.shape), "expand.shape"};
  return std::vector<Type>{{in[0].dtype, a.shape, {}}};
}

// The dialect has no copy that repeats, but a maximum that broadcasts: max(x, -128) is x. The
// constant has one byte for each repetition.
static Result<Lowered> cortex_m(const Expand&, const LowerContext& c) {
  const Type &x = c.in[0], &y = c.out[0];
  if (auto r = require_int8(x, "x", "cortex_m.expand.dtype")) return *r;
  if (auto r = require_same_quant(x, y, "cortex_m.expand.quant")) return *r;
  Shape repeated = y.shape;
  for (size_t k = 0; k < repeated.size(); ++k)
    if (x.shape[k] == y.shape[k]) repeated[k] = 1;
  MergedAxes m = merged_axes(x.shape, repeated, y.shape);
  if (m.y.size() > kMostMergedAxes)
    return Refusal{"repeated and whole axes alternate too often", std::to_string(m.y.size()),
                   std::to_string(kMostMergedAxes), "cortex_m.expand.rank"};
  CallBuilder call("cortex_m::maximum", c.in.size(), 1);
  call.in(0, plain_face(m.a))
      .constant(DType::s8, m.b, std::vector<int8_t>(static_cast<size_t>(numel(m.b)), -128))
      .out(0, plain_face(m.y));
  return call.done();
}

static constexpr QuantSpec kQuant[] = {{DType::s8, Gran::per_tensor}, {DType::s8, Gran::shared}};

static constexpr AxisRules<Expand> kAxes{
    .reordered = [](const Expand& a, const Axes& perm) -> std::optional<Expand> {
      return Expand{permuted(a.shape, inverse(perm))};
    },
    .window = nullptr,
    .has_bands = nullptr,
    .band = nullptr};
static OpFacts facts_of(const Expand&) { return facts(Family::movement, Values::moved); }
static std::vector<Example<Expand>> examples() {
  return {{"rows", {{1, 6, 4}}, {{1, 1, 4}}},
          {"an image from one pixel", {{2, 5, 3, 7}}, {{2, 1, 1, 7}}}};
}

const OpDef<Expand>& def_of(const Expand&) {
  static constexpr OpDef<Expand> d{
      .name = "expand",
      .infer = infer,
      .quantize = kQuant,
      .macs = no_macs,
      .execute = execute,
      .cortex_m = cortex_m,
      .npu = not_on_npu<Expand>("Neutron IR has no repetition"),
      .facts = facts_of,
      .axes = kAxes,
      .view = nullptr,
      .forms = {.simpler = nullptr, .kernel = kernel_form, .last = nullptr, .portable = nullptr},
      .examples = examples,
      .function = nullptr};
  return d;
}

std::optional<Repeat> Expand::repeat(const Shape& x) const {
  std::optional<Repeat> found;
  for (size_t k = 0; k < x.size(); ++k) {
    if (x[k] == shape[k]) continue;
    if (found) return std::nullopt;
    found = Repeat{static_cast<i64>(k), shape[k]};
  }
  return found;
}

}  // namespace deuteron
