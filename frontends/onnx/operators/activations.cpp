// SPDX-License-Identifier: Apache-2.0
// Functions of one element, and softmax.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "frontends/onnx/operators/compose.h"
#include "frontends/onnx/operators/import_table.h"
#include "frontends/onnx/operators/layers.h"

namespace deuteron::onnx {
namespace {

// The name of each function's operator in torch, where it is called with the operand alone.
constexpr Spelling kFunctions[] = {
    {"Abs", "aten.abs.default"},
    {"Ceil", "aten.ceil.default"},
    {"Cos", "aten.cos.default"},
    {"Erf", "aten.erf.default"},
    {"Exp", "aten.exp.default"},
    {"Floor", "aten.floor.default"},
    {"HardSwish", "aten.hardswish.default"},
    {"Log", "aten.log.default"},
    {"Mish", "aten.mish.default"},
    {"Neg", "aten.neg.default"},
    {"Reciprocal", "aten.reciprocal.default"},
    {"Relu", "aten.relu.default"},
    {"Round", "aten.round.default"},
    {"Sigmoid", "aten.sigmoid.default"},
    {"Sign", "aten.sign.default"},
    {"Sin", "aten.sin.default"},
    {"Softplus", "aten.softplus.default"},
    {"Sqrt", "aten.sqrt.default"},
    {"Tanh", "aten.tanh.default"},
};
// These have no form of their own but a portable kernel, whose result is what is said of it.
constexpr Spelling kKernels[] = {
    {"Acos", "aten.acos.default"}, {"Acosh", "aten.acosh.default"},
    {"Asin", "aten.asin.default"}, {"Asinh", "aten.asinh.default"},
    {"Atan", "aten.atan.default"}, {"Atanh", "aten.atanh.default"},
    {"Cosh", "aten.cosh.default"}, {"Sinh", "aten.sinh.default"},
    {"Tan", "aten.tan.default"},
};

}  // namespace

static void import_function(Call& c) {
  c.result(c.torch(target_of(kFunctions, c.op()), {{"self", c.operand(0)}}));
}

static void import_kernel(Call& c) {
  const Operand x = c.operand(0);
  c.result(c.torch_as(target_of(kKernels, c.op()), {{"self", x}}, DType::f32, c.shape(x)));
}

// Bounds of integers: of constants at once; of steps they are the range of the quantize, as
// Brevitas writes narrow ranges and fewer bits.
static void clip_integers(Call& c, const Operand& x) {
  constexpr i64 kNone = i64{1} << 40;
  auto data = c.known_integers(x);
  const auto bound = [&](size_t k, i64 otherwise) {
    const std::vector<i64> given =
        c.has(k) ? c.integers_of(k, "bounds") : std::vector<i64>{otherwise};
    c.require(!c.ok() || given.size() == 1, "has a bound that is not a single number",
              std::to_string(given.size()), "1", "onnx.clip.bound");
    return c.ok() ? given[0] : 0;
  };
  const i64 low = bound(1, -kNone), high = bound(2, kNone);
  const size_t given = c.has(1) ? 1 : 2;
  // as the model has it
  const bool is_unsigned = c.has(given) && c.dtype(c.operand(given)) == DType::u8;
  if (!data) return c.result(c.narrowed(x, low, high, is_unsigned ? 128 : 0, ""));
  for (size_t k = 0; c.ok() && k < data->size(); ++k)
    (*data)[k] = std::min(std::max((*data)[k], low), high);
  if (c.ok()) c.result(c.known("", {c.dtype(x), c.shape(x), {}}, *data));
}

// Bounds are operands, each of which may be missing; up to opset 10 attributes.
static void import_clip(Call& c) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const Operand x = c.operand(0);
  if (c.known_integers(x) || !c.steps(x).empty()) return clip_integers(c, x);
  const double low =
      c.opset() < 11 ? c.number("min", -kNone) : c.number_of(1, "lower bound", -kNone);
  const double high =
      c.opset() < 11 ? c.number("max", kNone) : c.number_of(2, "upper bound", kNone);
  Args args{{"self", x}};
  if (low > -kNone) args.emplace_back("min", low);
  if (high < kNone) args.emplace_back("max", high);
  c.result(args.size() == 1 ? x : c.torch("aten.clamp.default", std::move(args)));
}

static void import_leaky_relu(Call& c) { c.result(leaky_relu(c, c.operand(0), "")); }
static void import_elu(Call& c) {
  c.result(c.torch("aten.elu.default", {{"self", c.operand(0)}, {"alpha", c.number("alpha", 1)}}));
}
static void import_celu(Call& c) {
  c.result(c.torch("aten.celu.default", {{"self", c.operand(0)}, {"alpha", c.number("alpha", 1)}}));
}

// gamma * elu(x, alpha); torch's has constants of its own, those of the standard to float32.
static void import_selu(Call& c) {
  constexpr float kAlpha = 1.67326319217681884765625f, kGamma = 1.05070102214813232421875f;
  const double alpha = c.number("alpha", kAlpha), gamma = c.number("gamma", kGamma);
  const Operand x = c.operand(0);
  if (std::abs(alpha - kAlpha) < 1e-6 && std::abs(gamma - kGamma) < 1e-6)
    return c.result(c.torch("aten.selu.default", {{"self", x}}));
  c.result(
      scaled(c, c.torch("aten.elu.default", {{"self", x}, {"alpha", alpha}}, "elu"), gamma, ""));
}

static void import_gelu(Call& c) {
  const std::string approximate = c.text("approximate", "none");
  c.result(c.torch("aten.gelu.default", {{"self", c.operand(0)}, {"approximate", approximate}}));
}

// Of the contributed operators: FastGelu is the one with tanh; both may have a bias.
static void import_biased_gelu(Call& c) {
  Operand x = c.operand(0);
  if (c.has(1)) x = c.torch("aten.add.Tensor", {{"self", x}, {"other", c.operand(1)}}, "biased");
  c.result(c.torch("aten.gelu.default",
                   {{"self", x}, {"approximate", c.op() == "FastGelu" ? "tanh" : "none"}}));
}

// max(0, min(1, alpha * x + beta)); torch's has 1/6 and 1/2.
static void import_hard_sigmoid(Call& c) {
  const double alpha = c.number("alpha", 0.2), beta = c.number("beta", 0.5);
  const Operand x = c.operand(0);
  if (std::abs(alpha - 1.0 / 6) < 1e-6 && beta == 0.5)
    return c.result(c.torch("aten.hardsigmoid.default", {{"self", x}}));
  const Operand line = shifted(c, scaled(c, x, alpha, "scaled"), beta, "shifted");
  c.result(clamped(c, line, 0, 1, ""));
}

// x * sigmoid(alpha * x)
static void import_swish(Call& c) {
  const double alpha = c.number("alpha", c.op() == "QuickGelu" ? 1.702 : 1);
  const Operand x = c.operand(0);
  if (alpha == 1) return c.result(c.torch("aten.silu.default", {{"self", x}}));
  const Operand gate =
      c.torch("aten.sigmoid.default", {{"self", scaled(c, x, alpha, "scaled")}}, "gate");
  c.result(c.torch("aten.mul.Tensor", {{"self", x}, {"other", gate}}));
}

// swish(a) * b
static void import_swiglu(Call& c) {
  const double alpha = c.number("alpha", 1);
  const Operand a = c.operand(0), b = c.operand(1);
  Operand y = alpha == 1 ? c.torch("aten.silu.default", {{"self", a}}, "swish") : Operand{};
  if (alpha != 1)
    y = product(c, a,
                c.torch("aten.sigmoid.default", {{"self", scaled(c, a, alpha, "scaled")}}, "gate"),
                "swish");
  c.result(product(c, y, b, ""));
}

// x / (1 + |x|)
static Operand soft_sign(Call& c, const Operand& x, std::string_view suffix) {
  const Operand below = shifted(c, c.torch("aten.abs.default", {{"self", x}}, "abs"), 1, "below");
  return c.torch("aten.div.Tensor", {{"self", x}, {"other", below}}, suffix);
}
static void import_softsign(Call& c) { c.result(soft_sign(c, c.operand(0), "")); }

Operand activated(Call& c, const Operand& x, const std::string& name,
                  const std::vector<double>& given, std::string_view suffix) {
  const auto number = [&](size_t k, double otherwise) {
    return k < given.size() ? given[k] : otherwise;
  };
  const auto plain = [&](const char* target) { return c.torch(target, {{"self", x}}, suffix); };
  if (name.empty()) return x;
  if (name == "Relu") return plain("aten.relu.default");
  if (name == "Sigmoid") return plain("aten.sigmoid.default");
  if (name == "Tanh") return plain("aten.tanh.default");
  if (name == "Softplus") return plain("aten.softplus.default");
  if (name == "HardSwish") return plain("aten.hardswish.default");
  if (name == "Gelu") return plain("aten.gelu.default");
  if (name == "Elu")
    return c.torch("aten.elu.default", {{"self", x}, {"alpha", number(0, 1)}}, suffix);
  if (name == "LeakyRelu")
    return c.torch("aten.leaky_relu.default", {{"self", x}, {"negative_slope", number(0, 0.01)}},
                   suffix);
  if (name == "ThresholdedRelu")
    return c.torch("aten.threshold.default",
                   {{"self", x}, {"threshold", number(0, 1)}, {"value", 0}}, suffix);
  if (name == "Clip") return clamped(c, x, number(0, -3.4e38), number(1, 3.4e38), suffix);
  if (name == "HardSigmoid") {
    const Operand line =
        shifted(c, scaled(c, x, number(0, 0.2), "scaled"), number(1, 0.5), "shifted");
    return clamped(c, line, 0, 1, suffix);
  }
  if (name == "Affine")
    return shifted(c, scaled(c, x, number(0, 1), "scaled"), number(1, 0), suffix);
  if (name == "ScaledTanh") {
    const Operand inner = scaled(c, x, number(1, 1), "scaled");
    return scaled(c, c.torch("aten.tanh.default", {{"self", inner}}, "tanh"), number(0, 1), suffix);
  }
  if (name == "Softsign") return soft_sign(c, x, suffix);
  c.require(false, "has an activation that is not supported", name,
            "Relu, LeakyRelu, Clip, Sigmoid, Tanh, HardSigmoid, HardSwish, Elu, Gelu, Softplus, "
            "ThresholdedRelu, Affine, ScaledTanh, Softsign",
            "onnx.fused.activation");
  return {};
}

static void import_thresholded_relu(Call& c) {
  c.result(c.torch("aten.threshold.default",
                   {{"self", c.operand(0)}, {"threshold", c.number("alpha", 1)}, {"value", 0}}));
}

static void import_shrink(Call& c) {
  const double lambda = c.number("lambd", 0.5), bias = c.number("bias", 0);
  const Operand x = c.operand(0);
  if (bias == lambda)
    return c.result(c.torch("aten.softshrink.default", {{"self", x}, {"lambd", lambda}}));
  c.require(bias == 0 || lambda >= 0, "shrinks within a bound below 0", std::to_string(lambda), "0",
            "onnx.shrink.bias");
  const Operand y =
      c.torch("aten.hardshrink.default", {{"self", x}, {"lambd", lambda}}, bias == 0 ? "" : "hard");
  if (bias == 0) return c.result(y);
  const Operand sign = scaled(c, c.torch("aten.sign.default", {{"self", y}}, "sign"), bias, "bias");
  c.result(difference(c, y, sign, ""));
}

// Slopes that fit the channels, axis 1, or one for all; others are a product of what is below 0.
static void import_prelu(Call& c) {
  const Operand x = c.operand(0), slope = c.operand(1);
  if (!c.ok()) return;
  const i64 slopes = numel(c.shape(slope));
  const bool by_channel = c.rank(x) >= 2 && slopes == c.shape(x)[1];
  const Shape s = c.shape(slope);
  // of the channels among the slope's axes
  const size_t at = s.size() + 1 - static_cast<size_t>(c.rank(x));
  const bool fits = slopes == 1 || (by_channel && s.size() < static_cast<size_t>(c.rank(x)) &&
                                    at < s.size() && s[at] == slopes);
  if (!fits) {
    c.require(broadcast(c, c.shape(x), s) == c.shape(x), "has slopes that do not fit", to_text(s),
              to_text(c.shape(x)), "onnx.prelu.slope");
    const Operand above = c.torch("aten.relu.default", {{"self", x}}, "above");
    const Operand below = c.torch("aten.clamp_max.default", {{"self", x}, {"max", 0.0}}, "below");
    return c.result(sum(c, above, product(c, below, slope, "slope"), ""));
  }
  const Operand list =
      c.torch("aten.view.default", {{"self", slope}, {"size", std::vector<i64>{slopes}}}, "slopes");
  c.result(c.torch("aten.prelu.default", {{"self", x}, {"weight", list}}));
}

// Up to opset 12 over all axes from `axis` on, since then over that one.
static void softmax(Call& c, std::string_view target) {
  const Operand x = c.operand(0);
  const i64 rank = c.rank(x), axis = c.axis(c.integer("axis", c.opset() < 13 ? 1 : -1), rank);
  if (c.opset() >= 13 || axis == rank - 1)
    return c.result(c.torch(target, {{"self", x}, {"dim", axis}}));
  if (!c.ok()) return;
  const Shape shape = c.shape(x);
  const i64 rows = numel(std::span(shape).first(static_cast<size_t>(axis)));
  const Operand flat =
      c.torch("aten.view.default", {{"self", x}, {"size", std::vector<i64>{rows, -1}}}, "flat");
  const Operand y = c.torch(target, {{"self", flat}, {"dim", 1}}, "softmax");
  c.result(c.torch("aten.view.default", {{"self", y}, {"size", shape}}));
}
static void import_softmax(Call& c) { softmax(c, "aten.softmax.int"); }
static void import_log_softmax(Call& c) { softmax(c, "aten.log_softmax.int"); }

static constexpr ImportRow kActivationsRows[] = {
    {"Abs", import_function},
    {"Acos", import_kernel},
    {"Acosh", import_kernel},
    {"Asin", import_kernel},
    {"Asinh", import_kernel},
    {"Atan", import_kernel},
    {"Atanh", import_kernel},
    {"Ceil", import_function},
    {"Celu", import_celu},
    {"Clip", import_clip},
    {"Cos", import_function},
    {"Cosh", import_kernel},
    {"Elu", import_elu},
    {"Erf", import_function},
    {"Exp", import_function},
    {"Floor", import_function},
    {"Gelu", import_gelu},
    {"HardSigmoid", import_hard_sigmoid},
    {"HardSwish", import_function},
    {"LeakyRelu", import_leaky_relu},
    {"Log", import_function},
    {"LogSoftmax", import_log_softmax},
    {"Mish", import_function},
    {"Neg", import_function},
    {"PRelu", import_prelu},
    {"Reciprocal", import_function},
    {"Relu", import_function},
    {"Round", import_function},
    {"Selu", import_selu},
    {"Shrink", import_shrink},
    {"Sigmoid", import_function},
    {"Sign", import_function},
    {"Sin", import_function},
    {"Sinh", import_kernel},
    {"Softmax", import_softmax},
    {"Softplus", import_function},
    {"Softsign", import_softsign},
    {"Sqrt", import_function},
    {"SwiGLU", import_swiglu},
    {"Swish", import_swish},
    {"Tan", import_kernel},
    {"Tanh", import_function},
    {"ThresholdedRelu", import_thresholded_relu},
    {"BiasGelu", import_biased_gelu, kMicrosoft},
    {"FastGelu", import_biased_gelu, kMicrosoft},
    {"Gelu", import_biased_gelu, kMicrosoft},
    {"QuickGelu", import_swish, kMicrosoft},
};
ImportRows activations_rows() { return kActivationsRows; }

}  // namespace deuteron::onnx
