// SPDX-License-Identifier: Apache-2.0
// A function of one element: y = fn(x). Quantized, it is a table of 256 entries.
// Operands  x     Result  y, as x
#pragma once
#include "ops/attributes.h"

namespace deuteron {

template <class T>
struct OpDef;
struct HostTensor;
class FormBuilder;

enum class UnaryFn : u8 {
#define X(function, ...) function,
#include "ops/unary/functions.inc"
#undef X
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
void execute(const Unary&, std::span<const HostTensor> in,
             std::span<const HostTensor> out);  // execute.cpp

// forms.cpp
bool portable_form(const Unary&, FormBuilder&);

}  // namespace deuteron
