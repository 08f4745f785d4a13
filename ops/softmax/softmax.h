// SPDX-License-Identifier: Apache-2.0
// y = exp(beta * (x - max)) / sum of exp(beta * (x - max)) over one axis.
// Operands  x     Result  y, as x
#pragma once
#include "ops/attributes.h"

namespace deuteron {

template <class T>
struct OpDef;
struct HostTensor;
class FormBuilder;

struct Softmax {
  i64 axis = 0;    // 0..rank-1
  float beta = 1;  // above 0; costs nothing in int8: it goes into the multiplier
  bool operator==(const Softmax&) const = default;
  static void fields([[maybe_unused]] auto& self, [[maybe_unused]] auto&& visit) {
    visit("axis", self.axis);
    visit("beta", self.beta);
  }
};
const OpDef<Softmax>& def_of(const Softmax&);
void execute(const Softmax&, std::span<const HostTensor> in,
             std::span<const HostTensor> out);  // execute.cpp

// forms.cpp
bool simpler_form(const Softmax&, FormBuilder&);
bool kernel_form(const Softmax&, FormBuilder&);
bool portable_form(const Softmax&, FormBuilder&);

}  // namespace deuteron
