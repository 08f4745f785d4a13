// SPDX-License-Identifier: Apache-2.0
// Element-wise operators that are compositions of others: further activations, and arithmetic in
// several steps. What depends on one value alone becomes one table later
// (ir/rewrite/pointwise_rules.cpp).
#include <fmt/format.h>

#include <cmath>

#include "frontends/pt2/operators/compose.h"
#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/integers.h"

namespace deuteron::pt2 {
namespace {

double positive(Call& c, std::string_view argument) {
  const double value = c.number(argument);
  c.require(!c.ok() || (value > 0 && std::isfinite(static_cast<float>(value))),
            fmt::format("argument `{}` is out of range", argument), std::to_string(value),
            "above 0", "pt2.argument.range");
  return value;
}

// 1 where x > bound, else 0
ValueId is_above(Call& c, ValueId x, double bound) {
  const ValueId above = bound == 0 ? x : sum(c, x, number(c, -bound), "above");
  return between(c, apply(c, UnaryFn::ceil, above, "whole"), {.low = 0, .high = 1}, "is_above");
}

}  // namespace

// x * tanh(log(1 + exp(x)))
static void import_mish(Call& c) {
  const ValueId x = c.tensor("self");
  c.result(
      product(c, x, apply(c, UnaryFn::tanh, apply(c, UnaryFn::softplus, x, "softplus"), "tanh")));
}

// The constants are those of Klambauer et al. 2017, as torch has them.
static void import_selu(Call& c) {
  constexpr double kAlpha = 1.6732632423543772848170429916717,
                   kScale = 1.0507009873554804934193349852946;
  c.result(product(c, apply(c, UnaryFn::elu, c.tensor("self"), "elu", static_cast<float>(kAlpha)),
                   number(c, kScale)));
}

// alpha * elu(x / alpha)
static void import_celu(Call& c) {
  const double alpha = positive(c, "alpha");
  const ValueId scaled = product(c, c.tensor("self"), number(c, 1 / alpha), "scaled");
  c.result(product(c, apply(c, UnaryFn::elu, scaled, "elu", 1), number(c, alpha)));
}

// log(1 + exp(beta * x)) / beta. Above the threshold torch answers x, from which this differs by
// less than exp(-threshold): only one below 10 makes a step that is seen. Then what lies above it
// is added to the function of what lies below, less the step.
static void import_softplus(Call& c) {
  constexpr double kUnseen = 10;
  const double beta = positive(c, "beta"), threshold = c.number("threshold");
  const ValueId x = c.tensor("self");
  if (beta == 1 && threshold >= kUnseen) return c.result(apply(c, UnaryFn::softplus, x));
  const ValueId scaled = beta == 1 ? x : product(c, x, number(c, beta), "scaled");
  if (threshold >= kUnseen)
    return c.result(
        product(c, apply(c, UnaryFn::softplus, scaled, "softplus"), number(c, 1 / beta)));
  const ValueId below =
      apply(c, UnaryFn::softplus,
            between(c, scaled, {.high = static_cast<float>(threshold)}, "below"), "softplus");
  const ValueId above =
      between(c, sum(c, scaled, number(c, -threshold), "beyond"), {.low = 0}, "above");
  const ValueId step = product(c, is_above(c, scaled, threshold),
                               number(c, threshold - std::log1p(std::exp(threshold))), "step");
  c.result(
      product(c, sum(c, sum(c, below, above, "joined"), step, "stepped"), number(c, 1 / beta)));
}

// -log(1 + exp(-x))
static void import_log_sigmoid(Call& c) {
  const ValueId negative = apply(c, UnaryFn::neg, c.tensor("self"), "negative");
  c.result(apply(c, UnaryFn::neg, apply(c, UnaryFn::softplus, negative, "softplus")));
}

// x where |x| > lambd, else 0
static void import_hardshrink(Call& c) {
  const double lambd = c.number("lambd");
  const ValueId x = c.tensor("self");
  c.result(product(c, x, is_above(c, apply(c, UnaryFn::abs, x, "abs"), lambd)));
}

// x without what of it lies in -lambd..lambd
static void import_softshrink(Call& c) {
  const float lambd = static_cast<float>(c.number("lambd"));
  const ValueId x = c.tensor("self");
  c.result(difference(c, x, between(c, x, {.low = -lambd, .high = lambd}, "middle")));
}

// x where x > threshold, else value
static void import_threshold(Call& c) {
  const double threshold = c.number("threshold"), value = c.number("value");
  const ValueId x = c.tensor("self");
  const ValueId rest = sum(c, x, number(c, -value), "rest");
  c.result(sum(c, product(c, rest, is_above(c, x, threshold), "kept"), number(c, value)));
}

// In evaluation the slope is the middle of its range.
static void import_rrelu(Call& c) {
  c.require(!c.has("training") || !c.boolean("training"),
            "draws slopes at random: the model was exported in training mode", "", "",
            "pt2.dropout.training");
  const double lower = c.number("lower"), upper = c.number("upper");
  c.result(
      apply(c, UnaryFn::leaky_relu, c.tensor("self"), {}, static_cast<float>((lower + upper) / 2)));
}

static void import_exp2(Call& c) {
  c.result(
      apply(c, UnaryFn::exp, product(c, c.tensor("self"), number(c, std::log(2.0)), "scaled")));
}

// base ^ x
static void import_pow_of_number(Call& c) {
  const double base = positive(c, "self");
  c.result(apply(c, UnaryFn::exp,
                 product(c, c.tensor("exponent"), number(c, std::log(base)), "scaled")));
}

static void import_deg2rad(Call& c) {
  c.result(product(c, c.tensor("self"), number(c, std::acos(-1.0) / 180)));
}
static void import_erfc(Call& c) {
  c.result(difference(c, number(c, 1), apply(c, UnaryFn::erf, c.tensor("self"), "erf")));
}
static void import_frac(Call& c) {
  const ValueId x = c.tensor("self");
  c.result(difference(c, x, apply(c, UnaryFn::trunc, x, "trunc")));
}

// start + weight * (end - start)
static void import_lerp(Call& c) {
  const ValueId a = c.tensor("self"), way = difference(c, c.tensor("end"), a, "way");
  c.result(sum(c, a, product(c, way, c.operand("weight"), "part")));
}

// self + value * tensor1 * tensor2
static void import_addcmul(Call& c) {
  const double value = c.number("value");
  const ValueId term = product(c, c.tensor("tensor1"), c.tensor("tensor2"), "term");
  c.result(sum(c, c.tensor("self"), term, {}, value));
}
static void import_addcdiv(Call& c) {
  const double value = c.number("value");
  const ValueId term = quotient(c, c.tensor("tensor1"), c.tensor("tensor2"), "term");
  c.result(sum(c, c.tensor("self"), term, {}, value));
}

// sqrt(a * a + b * b)
static void import_hypot(Call& c) {
  const ValueId a = apply(c, UnaryFn::pow, c.tensor("self"), "a_squared", 2),
                b = apply(c, UnaryFn::pow, c.tensor("other"), "b_squared", 2);
  c.result(apply(c, UnaryFn::sqrt, sum(c, a, b, "sum")));
}

// sin(pi * x) / (pi * x). Nearer to 0 than this float32 has 1.
static void import_sinc(Call& c) {
  constexpr double kFlat = 1e-4;
  const ValueId far = between(c, apply(c, UnaryFn::abs, c.tensor("self"), "abs"),
                              {.low = static_cast<float>(kFlat)}, "far");
  const ValueId angle = product(c, far, number(c, std::acos(-1.0)), "angle");
  c.result(product(c, apply(c, UnaryFn::sin, angle, "sin"),
                   apply(c, UnaryFn::reciprocal, angle, "inverse")));
}

// 1 where x > 0, `values` where it is 0, else 0
static void import_heaviside(Call& c) {
  const ValueId x = c.tensor("self"), values = c.tensor("values");
  const ValueId above = is_above(c, x, 0),
                below = is_above(c, apply(c, UnaryFn::neg, x, "negative"), 0);
  const ValueId at = difference(c, number(c, 1), sum(c, above, below, "apart"), "at");
  c.result(sum(c, above, product(c, at, values, "chosen")));
}

// |a| with the sign of b; that of a zero is lost.
static void import_copysign(Call& c) {
  const ValueId a = c.tensor("self"), b = c.operand("other");
  const ValueId below = is_above(c, apply(c, UnaryFn::neg, b, "negative"), 0);
  const ValueId sign = sum(c, number(c, 1), below, "sign", -2);
  c.result(product(c, apply(c, UnaryFn::abs, a, "abs"), sign));
}

// log(exp(a) + exp(b)), from the larger one on
static void import_logaddexp(Call& c) {
  const ValueId a = c.tensor("self"), b = c.tensor("other");
  const ValueId apart = apply(c, UnaryFn::abs, difference(c, a, b, "difference"), "apart");
  const ValueId more =
      apply(c, UnaryFn::softplus, apply(c, UnaryFn::neg, apart, "negative"), "more");
  c.result(sum(c, c.add(Maximum{}, {a, b}, "larger"), more));
}

// log(2^a + 2^b) / log(2), from the larger one on
static void import_logaddexp2(Call& c) {
  const ValueId a = c.tensor("self"), b = c.tensor("other");
  const ValueId apart =
      product(c, apply(c, UnaryFn::abs, difference(c, a, b, "difference"), "apart"),
              number(c, -std::log(2.0)), "negative");
  const ValueId more = product(c, apply(c, UnaryFn::softplus, apart, "softplus"),
                               number(c, 1 / std::log(2.0)), "more");
  c.result(sum(c, c.add(Maximum{}, {a, b}, "larger"), more));
}

// x * log(y), x * log(1 + y)
static void import_xlogy(Call& c) {
  const UnaryFn fn = c.operator_name() == "special_xlog1py" ? UnaryFn::log1p : UnaryFn::log;
  const ValueId x = c.operand("self"), y = c.operand("other");
  c.result(product(c, x, apply(c, fn, y, "log")));
}

// x * 2^other
static void import_ldexp(Call& c) {
  const ValueId scaled = product(c, c.tensor("other"), number(c, std::log(2.0)), "scaled");
  c.result(product(c, c.tensor("self"), apply(c, UnaryFn::exp, scaled, "power")));
}

// (1 + erf(x / sqrt(2))) / 2
static void import_ndtr(Call& c) {
  const ValueId erf = apply(
      c, UnaryFn::erf, product(c, c.tensor("self"), number(c, std::sqrt(0.5)), "scaled"), "erf");
  c.result(product(c, sum(c, erf, number(c, 1), "from_0"), number(c, 0.5)));
}

static void import_rad2deg(Call& c) {
  c.result(product(c, c.tensor("self"), number(c, 180 / std::acos(-1.0))));
}

static void import_round_decimals(Call& c) {
  const double factor = std::pow(10.0, static_cast<double>(c.integer("decimals")));
  c.require(!c.ok() || (factor > 1e-30 && factor < 1e30), "rounds to too many digits", "", "30",
            "pt2.argument.range");
  const ValueId whole =
      apply(c, UnaryFn::round, product(c, c.tensor("self"), number(c, factor), "scaled"), "whole");
  c.result(product(c, whole, number(c, 1 / factor)));
}

// With bounds that are tensors: torch takes the larger of x and min, then the smaller of that and
// max.
static void import_clamp_by_tensors(Call& c) {
  ValueId y = c.tensor("self");
  if (c.has("min")) y = c.add(Maximum{}, {y, c.tensor("min")}, c.has("max") ? "above_min" : "");
  if (c.has("max")) y = c.add(Minimum{}, {y, c.tensor("max")});
  c.result(y);
}

// A quotient that is rounded down or towards zero, of float numbers.
static void import_rounded_div(Call& c) {
  const std::string mode = c.operator_name().starts_with("floor_divide") ? "floor"
                           : c.has("rounding_mode")                      ? c.text("rounding_mode")
                                                                         : "";
  const bool known = mode == "floor" || mode == "trunc" || mode.empty();
  c.require(!c.ok() || known, "rounds in a way that is not supported", mode, "floor, trunc",
            "pt2.div.rounding");
  if (!c.ok()) return;
  if (!mode.empty() && is_of_integers(c)) return divide_integers(c, mode == "trunc");
  const ValueId y =
      quotient(c, c.operand("self"), c.operand("other"), mode.empty() ? "" : "quotient");
  c.result(mode.empty() ? y : apply(c, mode == "floor" ? UnaryFn::floor : UnaryFn::trunc, y));
}

static constexpr ImportRow kCompositionsRows[] = {
    {"aten.addcdiv.default", import_addcdiv, true},
    {"aten.addcmul.default", import_addcmul, true},
    {"aten.celu.default", import_celu, true},
    {"aten.clamp.Tensor", import_clamp_by_tensors, true},
    {"aten.clamp_max.Tensor", import_clamp_by_tensors, true},
    {"aten.clamp_min.Tensor", import_clamp_by_tensors, true},
    {"aten.clip.Tensor", import_clamp_by_tensors, true},
    {"aten.copysign.Scalar", import_copysign, true},
    {"aten.copysign.Tensor", import_copysign, true},
    {"aten.deg2rad.default", import_deg2rad, true},
    {"aten.div.Scalar_mode", import_rounded_div, true},
    {"aten.div.Tensor_mode", import_rounded_div, true},
    {"aten.divide.Tensor_mode", import_rounded_div, true},
    {"aten.erfc.default", import_erfc, true},
    {"aten.exp2.default", import_exp2, true},
    {"aten.floor_divide.Scalar", import_rounded_div, true},
    {"aten.floor_divide.default", import_rounded_div},
    {"aten.floor_divide_.Tensor", import_rounded_div, true},
    {"aten.frac.default", import_frac, true},
    {"aten.hardshrink.default", import_hardshrink},
    {"aten.heaviside.default", import_heaviside, true},
    {"aten.hypot.default", import_hypot},
    {"aten.ldexp.Tensor", import_ldexp},
    {"aten.lerp.Scalar", import_lerp, true},
    {"aten.lerp.Tensor", import_lerp, true},
    {"aten.log_sigmoid.default", import_log_sigmoid},
    {"aten.logaddexp.default", import_logaddexp},
    {"aten.logaddexp2.default", import_logaddexp2},
    {"aten.mish.default", import_mish, true},
    {"aten.pow.Scalar", import_pow_of_number},
    {"aten.rad2deg.default", import_rad2deg, true},
    {"aten.round.decimals", import_round_decimals, true},
    {"aten.rrelu.default", import_rrelu, true},
    {"aten.rrelu_with_noise_functional.default", import_rrelu},
    {"aten.selu.default", import_selu, true},
    {"aten.sinc.default", import_sinc, true},
    {"aten.softplus.default", import_softplus},
    {"aten.softshrink.default", import_softshrink},
    {"aten.special_ndtr.default", import_ndtr},
    {"aten.special_xlog1py.default", import_xlogy},
    {"aten.special_xlog1py.other_scalar", import_xlogy},
    {"aten.special_xlog1py.self_scalar", import_xlogy},
    {"aten.threshold.default", import_threshold, true},
    {"aten.xlogy.Scalar_Other", import_xlogy},
    {"aten.xlogy.Scalar_Self", import_xlogy},
    {"aten.xlogy.Tensor", import_xlogy, true},
};
ImportRows compositions_rows() { return kCompositionsRows; }

}  // namespace deuteron::pt2
