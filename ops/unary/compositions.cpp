// SPDX-License-Identifier: Apache-2.0
#include "ops/unary/compositions.h"

#include <cmath>

#include "ops/unary/functions.h"

namespace deuteron {
namespace float_forms {

static ValueId number(FormBuilder& b, double v) {
  return b.constant(DType::f32, Shape(b.result().shape.size(), 1),
                    std::vector<float>{static_cast<float>(v)}, "number");
}
static ValueId apply(FormBuilder& b, UnaryFn fn, ValueId v, float alpha = 0) {
  return b.add(Unary{fn, alpha}, {v});
}
static ValueId times(FormBuilder& b, ValueId v, double factor) {
  const ValueId f = number(b, factor);
  return b.add(Mul{}, {v, f});
}
static ValueId half_of_one_more(FormBuilder& b, ValueId v) {
  const ValueId half = number(b, 0.5);
  return b.add(Mul{}, {b.add(Add{}, {v, number(b, 1)}), half});
}

bool silu(FormBuilder& b, float) { return b.finish(Mul{}, {0, apply(b, UnaryFn::sigmoid, 0)}); }

static ValueId sixth_of_the_middle(FormBuilder& b) {
  const ValueId sixth = number(b, 1.0 / 6);
  return b.add(Mul{}, {b.add(Clamp{{0.0f, 6.0f}}, {b.add(Add{}, {0, number(b, 3)})}), sixth});
}
bool hardswish(FormBuilder& b, float) {
  const ValueId sixth = sixth_of_the_middle(b);
  return b.finish(Mul{}, {0, sixth});
}
bool hardsigmoid(FormBuilder& b, float) { return b.finish(sixth_of_the_middle(b)); }

// x * (1 + erf(x / sqrt(2))) / 2
bool gelu(FormBuilder& b, float) {
  const ValueId bent = apply(b, UnaryFn::erf, times(b, 0, std::sqrt(0.5)));
  return b.finish(Mul{}, {0, half_of_one_more(b, bent)});
}

// The same with tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)).
bool gelu_tanh(FormBuilder& b, float) {
  const ValueId factor = number(b, 0.044715);
  const ValueId bent = b.add(Add{}, {0, b.add(Mul{}, {apply(b, UnaryFn::pow, 0, 3), factor})});
  return b.finish(
      Mul{}, {0, half_of_one_more(
                     b, apply(b, UnaryFn::tanh, times(b, bent, std::sqrt(2 / std::acos(-1.0)))))});
}

// max(x, 0) + log(1 + exp(-|x|))
bool softplus(FormBuilder& b, float) {
  const ValueId small = apply(b, UnaryFn::exp, apply(b, UnaryFn::neg, apply(b, UnaryFn::abs, 0)));
  return b.finish(Add{}, {b.add(Clamp{{.low = 0}}, {0}), apply(b, UnaryFn::log1p, small)});
}

// -x * log(x), with the smallest float in place of 0
bool entr(FormBuilder& b, float) {
  const ValueId logarithm =
      apply(b, UnaryFn::log, b.add(Clamp{{.low = std::numeric_limits<float>::min()}}, {0}));
  return b.finish(Unary{UnaryFn::neg, 0}, {b.add(Mul{}, {0, logarithm})});
}

}  // namespace float_forms

namespace builtin_forms {

PointOperand silu(PointWriter& w, PointOperand x, float) {
  return w.mul(x, w.unary(UnaryFn::sigmoid, x));
}

PointOperand hardsigmoid(PointWriter& w, PointOperand x, float) {
  return w.clamp(w.add(w.mul(x, w.number(1.0 / 6)), w.number(0.5)), {.low = 0, .high = 1});
}

PointOperand log1p(PointWriter& w, PointOperand x, float) {
  return w.unary(UnaryFn::log, w.add(x, w.number(1)));
}

PointOperand expm1(PointWriter& w, PointOperand x, float) {
  return w.add(w.unary(UnaryFn::exp, x), w.number(-1));
}

// -x * log(x). Below 1/256, the step of a softmax, with the logarithm of that: what is lost is less
// than 1/(256 e) = 0.0014, and the logarithms in between have a range that int8 can tell apart.
PointOperand entr(PointWriter& w, PointOperand x, float) {
  return w.unary(UnaryFn::neg, w.mul(x, w.unary(UnaryFn::log, w.clamp(x, {.low = 1.0f / 256}))));
}

PointOperand pow(PointWriter& w, PointOperand x, float alpha) {
  if (alpha == 2) return w.mul(x, x);
  if (alpha == 3) return w.mul(x, w.mul(x, x));
  return w.give_up(x);
}

// Of the negative part, so that nothing grows without bound.
PointOperand elu(PointWriter& w, PointOperand x, float alpha) {
  const PointOperand below = w.add(w.unary(UnaryFn::exp, w.clamp(x, {.high = 0})), w.number(-1));
  return w.add(w.clamp(x, {.low = 0}), alpha == 1 ? below : w.mul(below, w.number(alpha)));
}

// log(1 + exp(-|x|)) + max(x, 0)
PointOperand softplus(PointWriter& w, PointOperand x, float) {
  const PointOperand small = w.unary(UnaryFn::exp, w.unary(UnaryFn::neg, w.unary(UnaryFn::abs, x)));
  return w.add(w.unary(UnaryFn::log1p, small), w.clamp(x, {.low = 0}));
}

// x * sigmoid(2 u), where tanh(u) approximates erf(x / sqrt(2)) to 0.0005: u = sqrt(2 / pi) * (x +
// 0.044715 * x^3)
PointOperand gelu(PointWriter& w, PointOperand x, float) {
  const double twice = 2 * std::sqrt(2 / std::acos(-1.0));
  const PointOperand slope = w.add(w.mul(w.mul(x, x), w.number(0.044715 * twice)), w.number(twice));
  return w.mul(x, w.unary(UnaryFn::sigmoid, w.mul(x, slope)));
}

}  // namespace builtin_forms
}  // namespace deuteron
