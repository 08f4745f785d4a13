// SPDX-License-Identifier: Apache-2.0
// The rows of an operator, evaluated for a node or written as constraints.
#include <fmt/format.h>

#include "ops/all.h"

namespace deuteron {

template <class T>
static constexpr bool kHasRows = !std::is_same_v<T, KernelCall> && !std::is_same_v<T, Delegate>;

static std::string rule_name(std::string_view op, std::string_view rule) {
  return fmt::format("neutron.{}.{}", op, rule);
}

static bool passes(NpuTest test, i64 measured, i64 limit) {
  switch (test) {
    case NpuTest::at_most:
      return measured <= limit;
    case NpuTest::at_least:
      return measured >= limit;
    case NpuTest::equals:
      return measured == limit;
    case NpuTest::multiple_of:
      return measured % limit == 0;
    case NpuTest::holds:
      return measured == 1;
  }
  return false;
}

static std::string limit_text(NpuTest test, i64 limit) {
  switch (test) {
    case NpuTest::at_least:
      return fmt::format("at least {}", limit);
    case NpuTest::multiple_of:
      return fmt::format("a multiple of {}", limit);
    default:
      return std::to_string(limit);
  }
}

static std::string constraint_text(std::string_view what, NpuTest test, i64 limit) {
  switch (test) {
    case NpuTest::at_most:
      return fmt::format("{} <= {}", what, limit);
    case NpuTest::at_least:
      return fmt::format("{} >= {}", what, limit);
    case NpuTest::equals:
      return fmt::format("{} = {}", what, limit);
    case NpuTest::multiple_of:
      return fmt::format("{} divisible by {}", what, limit);
    case NpuTest::holds:
      return std::string(what);
  }
  return {};
}

// Operands and results that the NPU cannot hold: it has int8 with one scale, but for weights and
// biases.
static std::optional<NpuCheck> dtype_check(std::string_view name, const NpuOperands& o) {
  for (size_t k = 0; k < o.in.size() + o.out.size(); ++k) {
    const bool result = k >= o.in.size();
    const Type& t = result ? o.out[k - o.in.size()] : o.in[k];
    const bool is_float = t.dtype == DType::f32;  // not quantized yet, unless the result is
    if (!(is_float && !result && o.is_quantized()) &&
        ((!result && (o.data[k] || t.dtype == DType::s32)) || is_float))
      continue;  // a bias has a row of its own
    if (t.dtype != DType::s8 || t.quant.empty() || t.quant.per_channel())
      return NpuCheck{
          rule_name(name, "dtype"),
          result ? fmt::format("result {}", k - o.in.size()) : fmt::format("operand {}", k),
          to_text(t), "s8 with one scale", false};
  }
  return std::nullopt;
}

// "{}" becomes `found`.
static std::string filled(std::string_view sentence, const std::string& found) {
  const size_t at = sentence.find("{}");
  if (at == sentence.npos) return std::string(sentence);
  return std::string(sentence.substr(0, at)) + found + std::string(sentence.substr(at + 2));
}

template <class T>
static i64 limit_of(const NpuRow<T>& row, const NpuLimits& limits) {
  return row.limit ? limits.*row.limit : row.fixed;
}
// Every number is a multiple of 1.
template <class T>
static bool says_nothing(const NpuRow<T>& row, const NpuLimits& limits) {
  return row.condition.test == NpuTest::multiple_of && limit_of(row, limits) == 1;
}

template <class T>
static NpuCheck check_of(const NpuRow<T>& row, const T& op, i64 measured, const NpuLimits& limits) {
  const NpuTest test = row.condition.test;
  const i64 limit = limit_of(row, limits);
  const bool passed = passes(test, measured, limit);
  const std::string found = row.found && !passed ? row.found(op) : "";
  if (test == NpuTest::holds)
    return {"", passed ? std::string(row.what) : filled(row.condition.refused, found), "", "",
            passed};
  return {"", std::string(row.what), std::to_string(measured) + (found.empty() ? "" : ", " + found),
          limit_text(test, limit), passed};
}

std::vector<NpuCheck> npu_checks(const Op& op, const NpuOperands& operands) {
  return std::visit(
      [&]<class T>(const T& o) -> std::vector<NpuCheck> {
        if constexpr (!kHasRows<T>) {
          return {{"neutron.call",
                   "Neutron IR has nothing like it, only a kernel of the CPU computes it", "", "",
                   false}};
        } else {
          const OpDef<T>& def = def_of(o);
          if (def.npu.builtin.empty())
            return {{rule_name(def.name, "builtin"), std::string(def.npu.absent), "", "", false}};
          if (std::optional<NpuCheck> wrong = dtype_check(def.name, operands)) return {*wrong};
          std::vector<NpuCheck> checks;
          for (const NpuRow<T>& row : def.npu.rows) {
            const std::optional<i64> measured = row.measured(o, operands);
            if (!measured || says_nothing(row, operands.limits)) continue;
            checks.push_back(check_of(row, o, *measured, operands.limits));
            checks.back().rule = rule_name(def.name, row.rule);
            if (!checks.back().passed) break;
          }
          return checks;
        }
      },
      op);
}

std::vector<NpuConstraint> npu_constraints(const Op& op, const NpuLimits& limits) {
  return std::visit(
      [&]<class T>(const T& o) -> std::vector<NpuConstraint> {
        std::vector<NpuConstraint> constraints;
        if constexpr (kHasRows<T>)
          for (const NpuRow<T>& row : def_of(o).npu.rows) {
            if (!says_nothing(row, limits))
              constraints.push_back(
                  {rule_name(def_of(o).name, row.rule),
                   constraint_text(row.what, row.condition.test, limit_of(row, limits))});
          }
        return constraints;
      },
      op);
}

std::string_view npu_builtin(const Op& op) {
  return std::visit(
      []<class T>(const T& o) -> std::string_view {
        if constexpr (kHasRows<T>)
          return def_of(o).npu.builtin_of ? def_of(o).npu.builtin_of(o) : def_of(o).npu.builtin;
        else return {};
      },
      op);
}

std::span<const QuantSpec> npu_quant_specs(const Op& op) {
  return std::visit(
      []<class T>(const T& o) -> std::span<const QuantSpec> {
        if constexpr (kHasRows<T>)
          return def_of(o).npu.quantize ? def_of(o).npu.quantize(o) : def_of(o).quantize;
        else return {};
      },
      op);
}

}  // namespace deuteron
