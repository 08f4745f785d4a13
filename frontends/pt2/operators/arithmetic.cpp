// SPDX-License-Identifier: Apache-2.0
// Sums and products of two tensors, or of a tensor and a number.
#include <algorithm>
#include <cmath>

#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/integers.h"
#include "frontends/pt2/operators/kernel_result.h"

namespace deuteron::pt2 {
namespace {

enum class Change { negate, invert };

// -factor * v, or 1 / v, of a constant.
ValueId changed(Call& c, ValueId v, Change change, float factor = 1) {
  if (!c.ok()) return -1;
  const auto data = c.graph().values[v].constant->as<float>();
  std::vector<float> result(data.size());
  std::transform(data.begin(), data.end(), result.begin(),
                 [&](float x) { return change == Change::negate ? -factor * x : 1.0f / x; });
  const bool finite =
      std::all_of(result.begin(), result.end(), [](float x) { return std::isfinite(x); });
  c.require(finite, "divides by zero, or overflows float32", "", "", "pt2.arithmetic.finite");
  return c.constant(change == Change::negate ? "scaled" : "inverted", c.shape(v),
                    std::move(result));
}

float alpha_of(Call& c) {
  const double alpha = c.number("alpha");
  c.require(!c.ok() || std::isfinite(static_cast<float>(alpha)), "alpha is not a finite float32",
            std::to_string(alpha), "finite", "pt2.argument.finite");
  return static_cast<float>(alpha);
}

// a + factor * b
void finish_sum(Call& c, ValueId a, ValueId b, float factor) {
  if (factor != 1 && c.is_constant(b)) b = changed(c, b, Change::negate, -factor), factor = 1;
  Add op;
  op.alpha = factor;
  c.result(c.add(op, {a, b}));
}

// A sum or a product of truth values is true where either is, or both are.
bool is_of_truths(Call& c) { return c.declared_dtype() == DType::b8; }

// kernel(first, second[, alpha]), exact in the dtype that is declared
void finish_in_integers(Call& c, std::string_view kernel, std::string_view first,
                        std::string_view second, std::optional<float> alpha) {
  const TensorMeta* declared = c.result_meta(0);
  if (!c.ok()) return;
  const ValueId a = integer_operand(c, first, *declared->dtype),
                b = integer_operand(c, second, *declared->dtype);
  const Type result{*declared->dtype, declared->sizes, {}};
  c.result(alpha ? kernel_result(c, kernel, {a, b, real(*alpha)}, result)
                 : kernel_result(c, kernel, {a, b}, result));
}

}  // namespace

static void import_add(Call& c) {
  const float alpha = alpha_of(c);
  if (is_of_integers(c)) return finish_in_integers(c, "aten::add.out", "self", "other", alpha);
  if (is_of_truths(c))
    return finish_in_integers(c, "aten::logical_or.out", "self", "other", std::nullopt);
  finish_sum(c, c.operand("self"), c.operand("other"), alpha);
}

static void import_sub(Call& c) {
  const float alpha = alpha_of(c);
  if (is_of_integers(c)) return finish_in_integers(c, "aten::sub.out", "self", "other", alpha);
  finish_sum(c, c.operand("self"), c.operand("other"), -alpha);
}

static void import_rsub(Call& c) {
  const float alpha = alpha_of(c);
  if (is_of_integers(c)) return finish_in_integers(c, "aten::sub.out", "other", "self", alpha);
  finish_sum(c, c.operand("other"), c.operand("self"), -alpha);
}

static void import_mul(Call& c) {
  if (is_of_integers(c))
    return finish_in_integers(c, "aten::mul.out", "self", "other", std::nullopt);
  if (is_of_truths(c))
    return finish_in_integers(c, "aten::logical_and.out", "self", "other", std::nullopt);
  const ValueId a = c.operand("self"), b = c.operand("other");
  c.result(c.add(Mul{}, {a, b}));
}

// By a constant: a product, in which PyTorch's quotient may differ in the last bit of a float.
static void import_div(Call& c) {
  const ValueId a = c.operand("self"), b = c.operand("other");
  if (c.is_constant(b)) c.result(c.add(Mul{}, {a, changed(c, b, Change::invert)}));
  else c.result(c.add(Div{}, {a, b}));
}

static void import_minimum(Call& c) {
  const ValueId a = c.operand("self"), b = c.operand("other");
  c.result(c.add(Minimum{}, {a, b}));
}

static void import_maximum(Call& c) {
  const ValueId a = c.operand("self"), b = c.operand("other");
  c.result(c.add(Maximum{}, {a, b}));
}

static constexpr ImportRow kArithmeticRows[] = {
    {"aten.add.Scalar", import_add, true},
    {"aten.add.Tensor", import_add, true},
    {"aten.div.Scalar", import_div, true},
    {"aten.div.Tensor", import_div, true},
    {"aten.divide.Scalar", import_div, true},
    {"aten.divide.Tensor", import_div, true},
    {"aten.fmax.default", import_maximum},
    {"aten.fmin.default", import_minimum},
    {"aten.max.other", import_maximum},
    {"aten.maximum.default", import_maximum},
    {"aten.min.other", import_minimum},
    {"aten.minimum.default", import_minimum},
    {"aten.mul.Scalar", import_mul, true},
    {"aten.mul.Tensor", import_mul, true},
    {"aten.multiply.Scalar", import_mul, true},
    {"aten.multiply.Tensor", import_mul, true},
    {"aten.rsub.Scalar", import_rsub},
    {"aten.rsub.Tensor", import_rsub},
    {"aten.sub.Scalar", import_sub, true},
    {"aten.sub.Tensor", import_sub, true},
    {"aten.subtract.Scalar", import_sub, true},
    {"aten.subtract.Tensor", import_sub, true},
    {"aten.true_divide.Scalar", import_div, true},
    {"aten.true_divide.Tensor", import_div, true},
};
ImportRows arithmetic_rows() { return kArithmeticRows; }

}  // namespace deuteron::pt2
