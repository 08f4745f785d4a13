// SPDX-License-Identifier: Apache-2.0
// Functions of one element.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "frontends/tflite/operators/calls.h"
#include "frontends/tflite/operators/import_table.h"
#include "frontends/tflite/operators/parts.h"

namespace deuteron::tflite {
namespace {

void finish_unary(Call& c, UnaryFn fn, float alpha = 0) {
  c.takes(1, 1);
  c.require(std::isfinite(alpha), "has a factor that is not finite", fmt::format("{}", alpha),
            "finite", "tflite.operator.alpha");
  c.result(c.add(Unary{fn, alpha}, {c.real(0)}));
}

template <UnaryFn fn>
void import_unary(Call& c) {
  finish_unary(c, fn);
}

void finish_clamp(Call& c, float low, float high) {
  c.takes(1, 1);
  c.result(c.add(Clamp{{low, high}}, {c.real(0)}));
}

}  // namespace

static void import_relu(Call& c) { finish_clamp(c, 0, std::numeric_limits<float>::infinity()); }
static void import_relu6(Call& c) { finish_clamp(c, 0, 6); }
static void import_relu_n1_to_1(Call& c) { finish_clamp(c, -1, 1); }
static void import_relu_0_to_1(Call& c) { finish_clamp(c, 0, 1); }

static void import_abs(Call& c) {
  if (!is_of_integers(c)) return finish_unary(c, UnaryFn::abs);
  c.takes(1, 1);
  finish_integers(c, {"aten::abs", "out"});
}
// Of int16 in steps as they stand, of which -32768 stays as it is, as in TFLite.
static void import_neg(Call& c) {
  const Type &x = c.declared(0), &y = c.declared_result(0);
  const bool as_they_stand = x.dtype == DType::s16 && x.quant == y.quant;
  if (!as_they_stand && !is_of_integers(c)) return finish_unary(c, UnaryFn::neg);
  c.takes(1, 1);
  if (!as_they_stand) return finish_integers(c, {"aten::neg", "out"});
  c.result(call_on(c, {"aten::neg", "out"}, c.steps_value(0), {}, y));
}

static void import_leaky_relu(Call& c) {
  if (const auto* o = c.options<LeakyReluOptions>())
    finish_unary(c, UnaryFn::leaky_relu, o->alpha());
}

template <UnaryFn fn>
static void import_sigmoid(Call& c) {
  require_int16_scale(c);
  finish_unary(c, fn);
}

static void import_elu(Call& c) { finish_unary(c, UnaryFn::elu, 1); }
static void import_square(Call& c) { finish_unary(c, UnaryFn::pow, 2); }

static void import_gelu(Call& c) {
  if (const auto* o = c.options<GeluOptions>())
    finish_unary(c, o->approximate() ? UnaryFn::gelu_tanh : UnaryFn::gelu);
}

// On int16 of what is exact: what is above 0 in the result's steps, and the product of what is
// below; one of the two is 0.
static ValueId prelu_of_int16(Call& c, ValueId x, ValueId slope) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const ValueId above = c.rounded(c.add(Clamp{{0, kInfinity}}, {x}, "above"));
  const ValueId below =
      c.rounded(c.add(Clamp{{-kInfinity, 0}}, {x}, "below"), c.declared(0).quant, "below_rounded");
  return c.add(Add{},
               {above, c.rounded(c.add(Mul{}, {below, slope}, "product"), "product_rounded")});
}

// The slope has one element for each channel, or one for all.
// Slopes of each place, as Keras has them unless it is told to share them.
static ValueId prelu_by_place(Call& c, ValueId x, ValueId slope) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const ValueId above = c.add(Clamp{.bounds = {0, kInfinity}}, {x}, "above"),
                below = c.add(Clamp{.bounds = {-kInfinity, 0}}, {x}, "below");
  return c.add(Add{}, {above, c.add(Mul{}, {below, slope}, "sloped")});
}

static void import_prelu(Call& c) {
  c.takes(2, 2);
  const ValueId x = c.real(0);
  const bool is_int16 = c.declared(0).dtype == DType::s16;
  c.require(!is_int16 || c.declared(1).dtype == DType::s8,
            "has slopes of int16, which TFLite reads as int8",
            std::string(name_of(c.declared(1).dtype)), "INT8", "tflite.prelu.slope");
  Quant slope_quant;
  ValueId slope = is_int16 ? as_int16(c, 1, slope_quant) : c.real(1);
  c.require(!is_int16 || c.is_constant(1),
            "has slopes that are computed, beside int16 they have to be constants", "", "",
            "tflite.operand.constant");
  if (!c.ok()) return;
  const i64 count = c.type(slope).elements(), channels = c.rank(x) == 0 ? 1 : c.shape(x).back();
  const bool by_channel = count == 1 || (count == channels && c.shape(slope).back() == count);
  c.require(by_channel || !is_int16, "has slopes along other axes than the last one",
            to_text(c.shape(slope)), fmt::format("1 or {}", channels), "tflite.prelu.slope");
  if (!by_channel) return c.result(prelu_by_place(c, x, slope));
  slope = c.reshape(slope, {count}, "slope");
  c.result(is_int16 ? prelu_of_int16(c, x, slope) : c.add(Prelu{}, {x, slope}));
}

static constexpr ImportRow kActivationsRows[] = {
    {BuiltinOperator::ABS, import_abs, Int16::taken},
    {BuiltinOperator::CEIL, import_unary<UnaryFn::ceil>},
    {BuiltinOperator::COS, import_unary<UnaryFn::cos>},
    {BuiltinOperator::ELU, import_elu},
    {BuiltinOperator::EXP, import_unary<UnaryFn::exp>, Int16::taken},
    {BuiltinOperator::FLOOR, import_unary<UnaryFn::floor>},
    {BuiltinOperator::GELU, import_gelu, Int16::taken},
    {BuiltinOperator::HARD_SWISH, import_unary<UnaryFn::hardswish>},
    {BuiltinOperator::LEAKY_RELU, import_leaky_relu, Int16::taken},
    {BuiltinOperator::LOG, import_unary<UnaryFn::log>, Int16::taken},
    {BuiltinOperator::LOGISTIC, import_sigmoid<UnaryFn::sigmoid>, Int16::taken},
    {BuiltinOperator::NEG, import_neg, Int16::taken},
    {BuiltinOperator::PRELU, import_prelu, Int16::taken},
    {BuiltinOperator::RELU, import_relu, Int16::taken},
    {BuiltinOperator::RELU6, import_relu6, Int16::taken},
    {BuiltinOperator::RELU_0_TO_1, import_relu_0_to_1},
    {BuiltinOperator::RELU_N1_TO_1, import_relu_n1_to_1},
    {BuiltinOperator::ROUND, import_unary<UnaryFn::round>},
    {BuiltinOperator::RSQRT, import_unary<UnaryFn::rsqrt>, Int16::taken},
    {BuiltinOperator::SIGN, import_unary<UnaryFn::sign>},
    {BuiltinOperator::SIN, import_unary<UnaryFn::sin>},
    {BuiltinOperator::SQRT, import_unary<UnaryFn::sqrt>, Int16::taken},
    {BuiltinOperator::SQUARE, import_square},
    {BuiltinOperator::TANH, import_sigmoid<UnaryFn::tanh>, Int16::taken},
};
ImportRows activations_rows() { return kActivationsRows; }

}  // namespace deuteron::tflite
