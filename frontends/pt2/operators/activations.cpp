// SPDX-License-Identifier: Apache-2.0
// Functions of one element, and softmax.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "frontends/pt2/operators/compose.h"
#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/integers.h"

namespace deuteron::pt2 {
namespace {

// An in-place form changes its operand; the walk gives the new value to every name of it.
void finish(Call& c, Op op) { c.result(c.add(std::move(op), {c.tensor("self")})); }

void finish_clamp(Call& c, double low, double high) {
  c.require(!c.ok() || (!std::isnan(low) && !std::isnan(high)), "a bound is not a number", "", "",
            "pt2.clamp.bounds");
  Clamp op;
  op.bounds = {static_cast<float>(low), static_cast<float>(high)};
  if (op.bounds.low > op.bounds.high)
    op.bounds.low = op.bounds.high;  // torch: min(max(x, low), high)
  finish(c, op);
}

float finite(Call& c, std::string_view argument) {
  const float value = static_cast<float>(c.number(argument));
  c.require(!c.ok() || std::isfinite(value),
            fmt::format("argument `{}` is not a finite float32", argument), std::to_string(value),
            "finite", "pt2.argument.finite");
  return value;
}

void finish_softmax(Call& c) {
  const ValueId x = c.tensor("self");
  const i64 axis = c.axis("dim", c.rank(x));
  c.require(!c.ok() || c.rank(x) >= 1, "softmax of a tensor without axes", "0", "1",
            "pt2.softmax.rank");
  c.result(c.add(Softmax{axis}, {x}));
}

}  // namespace

static void import_relu(Call& c) { finish_clamp(c, 0, kInfinity); }
static void import_relu6(Call& c) { finish_clamp(c, 0, 6); }
static void import_hardtanh(Call& c) { finish_clamp(c, c.number("min_val"), c.number("max_val")); }
static void import_clamp(Call& c) {
  if (is_of_integers(c)) return clamp_integers(c);
  const double low = c.has("min") ? c.number("min") : -kInfinity,
               high = c.has("max") ? c.number("max") : kInfinity;
  finish_clamp(c, low, high);
}

static void import_unary(Call& c) {
  static constexpr std::pair<std::string_view, UnaryFn> kSynonyms[] = {{"absolute", UnaryFn::abs},
                                                                       {"negative", UnaryFn::neg},
                                                                       {"sgn", UnaryFn::sign},
                                                                       {"expit", UnaryFn::sigmoid}};
  std::string_view torch_name = c.operator_name();
  if (torch_name.starts_with("special_"))
    torch_name.remove_prefix(std::string_view("special_").size());
  auto fn = unary_named(torch_name);
  for (const auto& [name, meant] : kSynonyms)
    if (name == torch_name) fn = meant;
  DEUTERON_CHECK(fn.has_value(), std::string(c.operator_name()));
  finish(c, Unary{*fn, 0});
}

static void import_gelu(Call& c) {
  const std::string approximate = c.text("approximate");
  c.require(!c.ok() || approximate == "none" || approximate == "tanh",
            "is approximated in an unknown way", approximate, "none, tanh", "pt2.gelu.approximate");
  finish(c, Unary{approximate == "tanh" ? UnaryFn::gelu_tanh : UnaryFn::gelu, 0});
}

static void import_leaky_relu(Call& c) {
  finish(c, Unary{UnaryFn::leaky_relu, finite(c, "negative_slope")});
}

// scale * (x above 0, alpha * (exp(input_scale * x) - 1) below), which is elu(input_scale * x) with
// factors before and behind it.
static void import_elu(Call& c) {
  const float alpha = finite(c, "alpha"), scale = finite(c, "scale"),
              before = finite(c, "input_scale");
  c.require(!c.ok() || before > 0, "argument `input_scale` has a value that is not supported",
            std::to_string(before), "above 0", "pt2.argument.value");
  ValueId y = c.tensor("self");
  if (before != 1) y = product(c, y, number(c, before), "scaled");
  if (scale == before) return c.result(apply(c, UnaryFn::elu, y, {}, alpha * before));
  c.result(product(c, apply(c, UnaryFn::elu, y, "elu", alpha * before), number(c, scale / before)));
}

static void import_pow(Call& c) { finish(c, Unary{UnaryFn::pow, finite(c, "exponent")}); }
static void import_square(Call& c) { finish(c, Unary{UnaryFn::pow, 2}); }

// softmax.int has a dtype, _softmax a flag for half precision.
static void import_softmax(Call& c) {
  if (c.has("dtype"))
    c.require(dtype_of_code(c.integer("dtype")) == DType::f32, "computes in another dtype", "", "",
              "pt2.softmax.dtype");
  if (c.has("half_to_float"))
    c.require(!c.boolean("half_to_float"), "computes in half precision", "", "",
              "pt2.softmax.dtype");
  finish_softmax(c);
}

// a * sigmoid(b): the two halves along one axis
static void import_glu(Call& c) {
  const ValueId x = c.tensor("self");
  const i64 axis = c.axis("dim", c.rank(x));
  c.require(!c.ok() || (c.rank(x) > 0 && c.shape(x)[axis] % 2 == 0),
            "the axis does not have two halves",
            c.ok() && c.rank(x) > 0 ? std::to_string(c.shape(x)[axis]) : "0", "an even extent",
            "pt2.glu.axis");
  if (!c.ok()) return;
  const i64 half = c.shape(x)[axis] / 2;
  const ValueId a = c.add(Slice{axis, 0, half, 1}, {x}, "value"),
                b = c.add(Slice{axis, half, half, 1}, {x}, "gate");
  c.result(c.add(Mul{}, {a, c.add(Unary{UnaryFn::sigmoid, 0}, {b}, "sigmoid")}));
}

static constexpr ImportRow kActivationsRows[] = {
    {"aten._safe_softmax.default", import_softmax},
    {"aten._softmax.default", import_softmax},
    {"aten.abs.default", import_unary, true},
    {"aten.absolute.default", import_unary, true},
    {"aten.ceil.default", import_unary, true},
    {"aten.clamp.default", import_clamp, true},
    {"aten.clamp_max.default", import_clamp, true},
    {"aten.clamp_min.default", import_clamp, true},
    {"aten.clip.default", import_clamp, true},
    {"aten.cos.default", import_unary, true},
    {"aten.elu.default", import_elu, true},
    {"aten.erf.default", import_unary, true},
    {"aten.exp.default", import_unary, true},
    {"aten.expm1.default", import_unary, true},
    {"aten.float_power.Tensor_Scalar", import_pow},
    {"aten.floor.default", import_unary, true},
    {"aten.gelu.default", import_gelu, true},
    {"aten.glu.default", import_glu},
    {"aten.hardsigmoid.default", import_unary, true},
    {"aten.hardswish.default", import_unary, true},
    {"aten.hardtanh.default", import_hardtanh, true},
    {"aten.leaky_relu.default", import_leaky_relu, true},
    {"aten.log.default", import_unary, true},
    {"aten.log10.default", import_unary, true},
    {"aten.log1p.default", import_unary, true},
    {"aten.log2.default", import_unary, true},
    {"aten.neg.default", import_unary, true},
    {"aten.negative.default", import_unary, true},
    {"aten.pow.Tensor_Scalar", import_pow},
    {"aten.pow_.Scalar", import_pow, true},
    {"aten.reciprocal.default", import_unary, true},
    {"aten.relu.default", import_relu, true},
    {"aten.relu6.default", import_relu6, true},
    {"aten.round.default", import_unary, true},
    {"aten.rsqrt.default", import_unary, true},
    {"aten.sgn.default", import_unary, true},
    {"aten.sigmoid.default", import_unary, true},
    {"aten.sign.default", import_unary, true},
    {"aten.silu.default", import_unary, true},
    {"aten.sin.default", import_unary, true},
    {"aten.softmax.int", import_softmax},
    {"aten.special_entr.default", import_unary},
    {"aten.special_erf.default", import_unary},
    {"aten.special_expit.default", import_unary},
    {"aten.special_expm1.default", import_unary},
    {"aten.special_log1p.default", import_unary},
    {"aten.sqrt.default", import_unary, true},
    {"aten.square.default", import_square, true},
    {"aten.tanh.default", import_unary, true},
    {"aten.trunc.default", import_unary, true},
};
ImportRows activations_rows() { return kActivationsRows; }

}  // namespace deuteron::pt2
