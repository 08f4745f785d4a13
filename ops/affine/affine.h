// SPDX-License-Identifier: Apache-2.0
// Brings the channels of a float input to one size, or those of a float output back from it: y[i] =
// (x[i] + shift[c]) * factor[c]. The channel of element i, in storage order, is i % c. It stays in
// float; what makes it or reads it as int8 can be part of its call. Operands  x f32 or s8, shift
// f32 [c], factor f32 [c]     Result  y f32, or s8 with `quant`
#pragma once
#include "ops/attributes.h"

namespace deuteron {

template <class T>
struct OpDef;
struct HostTensor;
class FormBuilder;

struct Affine {
  Quant quant;  // empty: the result is float
  bool operator==(const Affine&) const = default;
  static void fields([[maybe_unused]] auto& self, [[maybe_unused]] auto&& visit) {
    visit("quant", self.quant);
  }
};
const OpDef<Affine>& def_of(const Affine&);
void execute(const Affine&, std::span<const HostTensor> in,
             std::span<const HostTensor> out);  // execute.cpp

// forms.cpp
bool portable_form(const Affine&, FormBuilder&);

}  // namespace deuteron
