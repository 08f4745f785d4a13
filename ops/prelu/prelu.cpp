// SPDX-License-Identifier: Apache-2.0
#include "ops/prelu/prelu.h"

#include <algorithm>

#include "ops/op.h"
#include "ops/prelu/multiplier.h"
#include "ops/unary/table.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const Prelu&, TypeView in) {
  if (in.size() != 2)
    return Refusal{"prelu takes x and its slopes", std::to_string(in.size()), "2",
                   "prelu.operands"};
  const Shape &x = in[0].shape, &slope = in[1].shape;
  const bool fits = slope.size() == 1 && (slope[0] == 1 || (!x.empty() && slope[0] == x.back()));
  if (!fits)
    return Refusal{"the slopes do not fit the last axis", to_text(slope), to_text(x),
                   "prelu.shape"};
  return std::vector<Type>{{in[0].dtype, x, {}}};
}

// The dialect has no such kernel: forms.cpp. With one slope it is a table.
static Result<Lowered> cortex_m(const Prelu&, const LowerContext& c) {
  const Refusal refusal{"the dialect has no kernel of prelu", "", "", "cortex_m.prelu.kernel"};
  const Type& slope = c.in[1];
  if (!c.data[1] || slope.dtype != DType::s8 || slope.quant.empty() || slope.quant.per_channel())
    return refusal;
  const std::span<const int8_t> steps = c.data[1]->as<int8_t>();
  if (std::any_of(steps.begin(), steps.end(), [&](int8_t s) { return s != steps.front(); }))
    return refusal;
  if (c.in[0].quant.empty() || c.out[0].quant.empty()) return refusal;
  const Quant& y = c.out[0].quant;
  const auto m = prelu_multipliers(c.in[0].quant, slope.quant, y, "cortex_m.prelu.kernel");
  if (!m) return m.why;
  return lower_made_table(c, "cortex_m.prelu.kernel", [&](const Quant& x, const Quant&) {
    std::vector<int8_t> table;
    for (i32 q = -128; q <= 127; ++q)
      table.push_back(static_cast<int8_t>(
          std::clamp(prelu_value(*m, x, slope.quant, y, q, steps[0]), y.low, y.high)));
    return table;
  });
}

static constexpr QuantSpec kQuant[] = {
    {DType::s8, Gran::per_tensor},           // x
    {DType::s8, Gran::per_tensor, 0, true},  // slope
    {DType::s8, Gran::per_tensor},           // y
};

static constexpr NpuSupport<Prelu> kNpuSupport{.rows = {}, .builtin = "PRELU", .absent = {}};

static OpFacts facts_of(const Prelu&) { return facts(Family::by_channel); }
static std::vector<Example<Prelu>> examples() {
  return {{"a slope for each channel", {}, {{1, 5, 3, 7}, {7}}}, {"one slope", {}, {{3, 11}, {1}}}};
}

const OpDef<Prelu>& def_of(const Prelu&) {
  static constexpr OpDef<Prelu> d{.name = "prelu",
                                  .infer = infer,
                                  .quantize = kQuant,
                                  .macs = no_macs,
                                  .execute = execute,
                                  .cortex_m = cortex_m,
                                  .npu = kNpuSupport,
                                  .facts = facts_of,
                                  .axes = kNoAxisRules<Prelu>,
                                  .view = nullptr,
                                  .forms = {.simpler = simpler_form,
                                            .kernel = kernel_form,
                                            .last = nullptr,
                                            .portable = nullptr},
                                  .examples = examples,
                                  .function = nullptr};
  return d;
}

}  // namespace deuteron
