// SPDX-License-Identifier: Apache-2.0
#include "ops/clamp/clamp.h"

#include <algorithm>
#include <limits>

#include "ops/unary/reference_table.h"
#include "ops/unary/table.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const Clamp& a, TypeView in) {
  if (in.size() != 1)
    return Refusal{"clamp takes one operand", std::to_string(in.size()), "1", "clamp.operands"};
  if (!(a.bounds.low <= a.bounds.high))
    return Refusal{"the lower bound is above the upper one", std::to_string(a.bounds.low),
                   std::to_string(a.bounds.high), "clamp.bounds"};
  return std::vector<Type>{{in[0].dtype, in[0].shape, {}}};
}

static Result<Lowered> cortex_m(const Clamp& a, const LowerContext& c) {
  if (is_reference(c.rounding))
    return lower_made_table(c, "cortex_m.clamp.dtype", [&](const Quant& x, const Quant& y) {
      return reference_clamp(a.bounds, x, y);
    });
  return lower_as_table(c, "cortex_m.clamp.dtype", [&](float x) {
    return std::min(std::max(x, a.bounds.low), a.bounds.high);
  });
}

static constexpr QuantSpec kQuant[] = {{DType::s8, Gran::per_tensor},
                                       {DType::s8, Gran::per_tensor}};

// Limits: rules of ExecuTorch's NXP backend (converters of the operator); the numbers are the
// target's. Bounds with a builtin of their own; without bounds it is QUANTIZE. What has them may
// change its parameters.
static bool has_builtin(const Bounds& b) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  return b.none() || (b.low == 0 && (b.high == 1 || b.high == 6 || b.high == kInfinity)) ||
         (b.low == -1 && b.high == 1);
}
static constexpr NpuRow<Clamp> kNpu[] = {
    {"parameters",
     "bounds other than those of relu, relu6, -1..1 and 0..1 keep the scale and zero point",
     must_hold("bounds other than those of relu, relu6, -1..1 and 0..1 need the operand's scale "
               "and zero point"),
     [](const Clamp& a, const NpuOperands& o) {
       return has_builtin(a.bounds) ? std::optional<i64>(1) : parameters_are_shared<Clamp>(a, o);
     }},
};
static constexpr QuantSpec kNpuQuant[] = {{DType::s8, Gran::per_tensor}, {DType::s8, Gran::shared}};
static std::span<const QuantSpec> npu_quantize(const Clamp& a) {
  return has_builtin(a.bounds) ? std::span<const QuantSpec>(kQuant) : kNpuQuant;
}
static constexpr NpuSupport<Clamp> kNpuSupport{
    .rows = kNpu,
    .builtin = "RELU, RELU6, RELU_N1_TO_1, RELU_0_TO_1, MAXIMUM, MINIMUM, QUANTIZE",
    .absent = {},
    .quantize = npu_quantize};

static OpFacts facts_of(const Clamp& a) {
  OpFacts f = facts(Family::elementwise);
  f.useful = a.bounds;
  return f;
}
static std::vector<Example<Clamp>> examples() {
  return {{"relu", {.bounds = {.low = 0}}, {{2, 5, 3, 7}}},
          {"-1..1", {.bounds = {-1, 1}}, {{3, 11}}},
          {"a change of parameters", {}, {{13}}}};
}

const OpDef<Clamp>& def_of(const Clamp&) {
  static constexpr OpDef<Clamp> d{.name = "clamp",
                                  .infer = infer,
                                  .quantize = kQuant,
                                  .macs = no_macs,
                                  .execute = execute,
                                  .cortex_m = cortex_m,
                                  .npu = kNpuSupport,
                                  .facts = facts_of,
                                  .axes = kNoAxisRules<Clamp>,
                                  .view = nullptr,
                                  .forms = kNoForms<Clamp>,
                                  .examples = examples,
                                  .function = nullptr};
  return d;
}

}  // namespace deuteron
