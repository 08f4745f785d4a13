// A function of one element: y = fn(x). Quantized, it is a table of 256 entries.
// Operands  x     Result  y, as x
#pragma once
#include "ops/attributes.h"

namespace deuteron {

template <class T>
struct OpDef;
struct HostTensor;

enum class UnaryFn : u8 {
  identity, hardswish, hardsigmoid, sigmoid, tanh, silu, gelu, gelu_tanh, exp, log, sqrt, rsqrt, abs, neg, reciprocal, leaky_relu, elu, softplus,
  pow, sin, cos, floor, round, log2, log10, log1p, expm1, erf, ceil, trunc, sign
};
std::string_view name_of(UnaryFn);
std::optional<UnaryFn> unary_named(std::string_view);
float evaluate(UnaryFn, float x, float alpha);  // in float32, as PyTorch computes it

struct Unary {
  UnaryFn fn = UnaryFn::identity;
  float alpha = 0;  // leaky_relu: slope; elu: scale of the negative part; pow: exponent
  bool operator==(const Unary&) const = default;
  static void fields([[maybe_unused]] auto& self, [[maybe_unused]] auto&& visit) {
    visit("fn", self.fn);
    visit("alpha", self.alpha);
  }
};
const OpDef<Unary>& def_of(const Unary&);
void execute(const Unary&, std::span<const HostTensor> in, std::span<const HostTensor> out);  // execute.cpp

}  // namespace deuteron
