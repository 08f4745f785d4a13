// SPDX-License-Identifier: Apache-2.0
// Products of two series of matrices, the second one transposed, as the kernel takes it.
//   y[b,m,n] = scale * sum over k of x[b,m,k] * other[b,n,k]
// Operands  x [b,m,k], other [b,n,k]     Result  y [b,m,n]
#pragma once
#include "ops/attributes.h"

namespace deuteron {

template <class T>
struct OpDef;
struct HostTensor;
class FormBuilder;

struct Matmul {
  float scale = 1;  // a factor beside the product costs nothing: it goes into the multiplier
  bool operator==(const Matmul&) const = default;
  static void fields([[maybe_unused]] auto& self, [[maybe_unused]] auto&& visit) {
    visit("scale", self.scale);
  }
};
const OpDef<Matmul>& def_of(const Matmul&);
void execute(const Matmul&, std::span<const HostTensor> in,
             std::span<const HostTensor> out);  // execute.cpp

// forms.cpp
bool portable_form(const Matmul&, FormBuilder&);

struct LowerContext;
struct Lowered;
template <class T>
struct Result;
Result<Lowered> float_form(
    const Matmul&, const LowerContext&);  // matmul.cpp; compile/lower/float_calls.cpp asks for it

}  // namespace deuteron
