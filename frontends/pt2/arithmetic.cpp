// Sums and products of two tensors, or of a tensor and a number.
#include <algorithm>
#include <cmath>

#include "frontends/pt2/import_table.h"

namespace deuteron::pt2 {
namespace {

enum class Change { negate, invert };

// -factor * v, or 1 / v: at once for numbers and parameters, by an operator for everything else.
ValueId changed(Call& c, ValueId v, Change change, float factor) {
  if (!c.ok()) return -1;
  if (c.is_constant(v)) {
    const auto data = c.graph().values[v].constant->as<float>();
    std::vector<float> result(data.size());
    std::transform(data.begin(), data.end(), result.begin(), [&](float x) { return change == Change::negate ? -factor * x : 1.0f / x; });
    const bool finite = std::all_of(result.begin(), result.end(), [](float x) { return std::isfinite(x); });
    c.require(finite, "divides by zero, or overflows float32", "", "", "pt2.arithmetic.finite");
    return c.constant(change == Change::negate ? "negated" : "inverted", c.shape(v), std::move(result));
  }
  if (change == Change::invert) return c.add(Unary{UnaryFn::reciprocal, 0}, {v}, "inverted");
  if (factor != 1) return c.add(Mul{}, {v, c.constant("factor", {}, {-factor})}, "negated");
  return c.add(Unary{UnaryFn::neg, 0}, {v}, "negated");
}

float alpha_of(Call& c) {
  const double alpha = c.number("alpha");
  c.require(!c.ok() || std::isfinite(static_cast<float>(alpha)), "alpha is not a finite float32", std::to_string(alpha), "finite",
            "pt2.argument.finite");
  return static_cast<float>(alpha);
}

// a - alpha * b
void subtract(Call& c, std::string_view from, std::string_view what) {
  const float alpha = alpha_of(c);
  const ValueId a = c.operand(from), b = c.operand(what);
  c.result(c.add(Add{}, {a, changed(c, b, Change::negate, alpha)}));
}

}  // namespace

void import_add(Call& c) {
  const float alpha = alpha_of(c);
  const ValueId a = c.operand("self");
  ValueId b = c.operand("other");
  if (alpha != 1) b = c.add(Mul{}, {b, c.constant("alpha", {}, {alpha})}, "scaled");
  c.result(c.add(Add{}, {a, b}));
}

void import_sub(Call& c) { subtract(c, "self", "other"); }
void import_rsub(Call& c) { subtract(c, "other", "self"); }

void import_mul(Call& c) {
  const ValueId a = c.operand("self"), b = c.operand("other");
  c.result(c.add(Mul{}, {a, b}));
}

void import_div(Call& c) {
  const ValueId a = c.operand("self"), b = c.operand("other");
  c.require(!c.ok() || c.is_derived_from_constants(b), "divides by a computed value, which is not supported", "", "",
            "pt2.arithmetic.divisor");
  c.result(c.add(Mul{}, {a, changed(c, b, Change::invert, 1)}));
}

}  // namespace deuteron::pt2
