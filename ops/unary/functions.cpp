// The functions of Unary: the one table of names and definitions. Each is computed in float32 the way PyTorch does it.
#include <cmath>
#include <iterator>

#include "ops/op.h"
#include "ops/unary/unary.h"

namespace deuteron {

struct Function {
  UnaryFn fn;
  std::string_view name;
  float (*value)(float x, float alpha);
};

static float six(float x) { return x < 0.0f ? 0.0f : x > 6.0f ? 6.0f : x; }  // NaN stays

// In the order of UnaryFn.
static constexpr Function kFunctions[] = {
    {UnaryFn::identity, "identity", [](float x, float) { return x; }},
    {UnaryFn::hardswish, "hardswish", [](float x, float) { return x * six(x + 3.0f) / 6.0f; }},
    {UnaryFn::hardsigmoid, "hardsigmoid", [](float x, float) { return six(x + 3.0f) / 6.0f; }},
    {UnaryFn::sigmoid, "sigmoid", [](float x, float) { return 1.0f / (1.0f + std::exp(-x)); }},
    {UnaryFn::tanh, "tanh", [](float x, float) { return std::tanh(x); }},
    {UnaryFn::silu, "silu", [](float x, float) { return x / (1.0f + std::exp(-x)); }},
    {UnaryFn::gelu, "gelu", [](float x, float) { return x * 0.5f * (1.0f + std::erf(x * 0.70710678118654752f)); }},
    {UnaryFn::gelu_tanh, "gelu_tanh",
     [](float x, float) { return 0.5f * x * (1.0f + std::tanh(0.79788456080286536f * (x + 0.044715f * x * x * x))); }},
    {UnaryFn::exp, "exp", [](float x, float) { return std::exp(x); }},
    {UnaryFn::log, "log", [](float x, float) { return std::log(x); }},
    {UnaryFn::sqrt, "sqrt", [](float x, float) { return std::sqrt(x); }},
    {UnaryFn::rsqrt, "rsqrt", [](float x, float) { return 1.0f / std::sqrt(x); }},
    {UnaryFn::abs, "abs", [](float x, float) { return std::abs(x); }},
    {UnaryFn::neg, "neg", [](float x, float) { return -x; }},
    {UnaryFn::reciprocal, "reciprocal", [](float x, float) { return 1.0f / x; }},
    {UnaryFn::leaky_relu, "leaky_relu", [](float x, float alpha) { return x > 0.0f ? x : x * alpha; }},
    {UnaryFn::elu, "elu", [](float x, float alpha) { return x > 0.0f ? x : std::expm1(x) * alpha; }},
    {UnaryFn::softplus, "softplus", [](float x, float) { return x > 20.0f ? x : std::log1p(std::exp(x)); }},
    {UnaryFn::pow, "pow", [](float x, float alpha) { return std::pow(x, alpha); }},
    {UnaryFn::sin, "sin", [](float x, float) { return std::sin(x); }},
    {UnaryFn::cos, "cos", [](float x, float) { return std::cos(x); }},
    {UnaryFn::floor, "floor", [](float x, float) { return std::floor(x); }},
    {UnaryFn::round, "round", [](float x, float) { return std::nearbyint(x); }},  // half to even
    {UnaryFn::log2, "log2", [](float x, float) { return std::log2(x); }},
    {UnaryFn::log10, "log10", [](float x, float) { return std::log10(x); }},
    {UnaryFn::log1p, "log1p", [](float x, float) { return std::log1p(x); }},
    {UnaryFn::expm1, "expm1", [](float x, float) { return std::expm1(x); }},
    {UnaryFn::erf, "erf", [](float x, float) { return std::erf(x); }},
    {UnaryFn::ceil, "ceil", [](float x, float) { return std::ceil(x); }},
    {UnaryFn::trunc, "trunc", [](float x, float) { return std::trunc(x); }},
    {UnaryFn::sign, "sign", [](float x, float) { return static_cast<float>((x > 0.0f) - (x < 0.0f)); }},
};
static constexpr UnaryFn kLastFn = UnaryFn::sign;

static constexpr bool in_order() {
  for (size_t i = 0; i < std::size(kFunctions); ++i)
    if (static_cast<size_t>(kFunctions[i].fn) != i) return false;
  return std::size(kFunctions) == static_cast<size_t>(kLastFn) + 1;
}
static_assert(in_order(), "one row for each UnaryFn, in its order");

std::string_view name_of(UnaryFn fn) { return kFunctions[static_cast<size_t>(fn)].name; }

std::optional<UnaryFn> unary_named(std::string_view name) {
  for (const Function& f : kFunctions)
    if (f.name == name) return f.fn;
  return std::nullopt;
}

float evaluate(UnaryFn fn, float x, float alpha) { return kFunctions[static_cast<size_t>(fn)].value(x, alpha); }

}  // namespace deuteron
