// SPDX-License-Identifier: Apache-2.0
#include "ops/unary/unary.h"

#include <array>

#include "ops/form.h"
#include "ops/unary/functions.h"
#include "ops/unary/pair_table.h"
#include "ops/unary/reference_table.h"
#include "ops/unary/table.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const Unary&, TypeView in) {
  if (in.size() != 1)
    return Refusal{"takes one operand", std::to_string(in.size()), "1", "unary.operands"};
  return std::vector<Type>{{in[0].dtype, in[0].shape, {}}};
}

// A result by way of the fixed parameters moves by at most so many of its own steps at once.
static constexpr float kMostStepsAtOnce = 4;

// LOGISTIC and TANH have results of fixed parameters.
static std::optional<Quant> fixed_result(UnaryFn fn) {
  const FixedResult& fixed = row_of(fn).fixed;
  return fixed.scale != 0 ? std::optional(per_tensor(fixed.scale, fixed.zero_point)) : std::nullopt;
}

// What comes in the fixed parameters has the steps that y can tell apart, but for a few.
static bool fine_enough(const Quant& fixed, const Quant& y) {
  return fixed.scale[0] <= kMostStepsAtOnce * y.scale[0];
}

// As the NPU computes it: neg is 0 - x, sigmoid and tanh come to other parameters by way of their
// fixed ones. Nothing: as by a table.
static std::optional<std::vector<int8_t>> npu_table(const Unary& a, const Quant& x,
                                                    const Quant& y) {
  if (a.fn == UnaryFn::neg) return pair_table(PairFn::sub, {&x, x.zero_point[0]}, {&x, {}}, y);
  const auto fixed = fixed_result(a.fn);
  if (!fixed || !fine_enough(*fixed, y)) return std::nullopt;
  std::vector<int8_t> table =
      table_of(x, *fixed, [&](float v) { return evaluate(a.fn, v, a.alpha); });
  const std::vector<int8_t> changed = table_of(*fixed, y, [](float v) { return v; });
  for (int8_t& entry : table) entry = changed[static_cast<size_t>(entry + 128)];
  return table;
}

static Result<Lowered> cortex_m(const Unary& a, const LowerContext& c) {
  return lower_made_table(c, "cortex_m.unary.dtype", [&](const Quant& x, const Quant& y) {
    if (is_reference(c.rounding)) return reference_table(a, x, y);
    const auto table = c.rounding == Rounding::tflite ? npu_table(a, x, y) : std::nullopt;
    return table ? *table : table_of(x, y, [&](float v) { return evaluate(a.fn, v, a.alpha); });
  });
}

static constexpr QuantSpec kQuant[] = {{DType::s8, Gran::per_tensor},
                                       {DType::s8, Gran::per_tensor}};

// Limits: rules of ExecuTorch's NXP backend (converters of the operator); the numbers are the
// target's.
static std::string functions_of_npu() {
  std::string names;
  for (const UnaryFunction& row : unary_functions())
    if (!row.neutron.empty()) names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}
static std::span<const NpuRow<Unary>> npu_rows() {
  static const std::string names = functions_of_npu();
  static const std::string function = "Neutron IR has the function (" + names + ")";
  static const std::string refused = "Neutron IR has no {}, only " + names;
  static const NpuRow<Unary> rows[] = {
      {"function", function, must_hold(refused),
       [](const Unary& a, const NpuOperands&) {
         return std::optional<i64>(!row_of(a.fn).neutron.empty());
       },
       nullptr, 1, [](const Unary& a) { return std::string(row_of(a.fn).name); }},
      {"precision", "a step of sigmoid's 1/256 and tanh's 1/128 is at most 4 of the result's own",
       must_hold("a step of the NPU's sigmoid, 1/256, or tanh, 1/128, is more than 4 of the "
                 "result's own"),
       [](const Unary& a, const NpuOperands& o) -> std::optional<i64> {
         const auto fixed = fixed_result(a.fn);
         if (!fixed || !o.is_quantized()) return std::nullopt;
         return fine_enough(*fixed, o.out[0].quant);
       }},
  };
  return rows;
}
static std::span<const QuantSpec> npu_quantize(const Unary& a) {
  static const std::vector<std::array<QuantSpec, 2>> specs = [] {
    std::vector<std::array<QuantSpec, 2>> all;
    for (const UnaryFunction& row : unary_functions()) {
      const QuantSpec fixed{DType::s8, Gran::fixed,     0,
                            false,     row.fixed.scale, row.fixed.zero_point};
      all.push_back({kQuant[0], row.fixed.scale == 0 ? kQuant[1] : fixed});
    }
    return all;
  }();
  return specs[static_cast<size_t>(a.fn)];
}

static OpFacts facts_of(const Unary& a) {
  OpFacts f = facts(Family::elementwise);
  f.useful = row_of(a.fn).useful;
  f.slow_functions = row_of(a.fn).is_slow ? 1 : 0;
  return f;
}
static std::vector<Example<Unary>> examples() {
  std::vector<Example<Unary>> all;
  for (const UnaryFunction& row : unary_functions())
    all.push_back({row.name.data(), {row.fn, 1}, {{1, 6, 9, 4}}});
  return all;
}

bool portable_form(const Unary& a, FormBuilder& b) {
  const auto form = row_of(a.fn).portable;
  return form && b.result().dtype == DType::f32 && form(b, a.alpha);
}

const OpDef<Unary>& def_of(const Unary&) {
  static const OpDef<Unary> d{
      .name = "unary",
      .infer = infer,
      .quantize = kQuant,
      .macs = no_macs,
      .execute = execute,
      .cortex_m = cortex_m,
      .npu = {.rows = npu_rows(),
              .builtin = "one for each function",
              .absent = {},
              .quantize = npu_quantize,
              .builtin_of = [](const Unary& a) { return row_of(a.fn).neutron; }},
      .facts = facts_of,
      .axes = kNoAxisRules<Unary>,
      .view = nullptr,
      .forms = {.simpler = nullptr, .kernel = nullptr, .last = nullptr, .portable = portable_form},
      .examples = examples,
      .function = [](const Unary& a) { return row_of(a.fn).name; }};
  return d;
}

}  // namespace deuteron
