// SPDX-License-Identifier: Apache-2.0
// Each slice over the last `axes` axes brought to mean 0 and variance 1, then weighted: y = (x -
// mean) / sqrt(variance + epsilon) * weight
// + bias. Not centered, it is the RMS norm: y = x / sqrt(mean of x squared + epsilon) * weight +
// bias. `to_length`: with weights of 1 / sqrt(elements) that brings slices to the length 1, which
// int8 models of TFLite compute in its own arithmetic, of bytes in another one
// (kernels/l2_normalize/kernel.h).
// Operands  x, weight, bias: weight and bias constants with the extents of those axes; bias, or
// both, may be missing     Result  y, as x
#pragma once
#include "ops/attributes.h"

namespace deuteron {

class FormBuilder;
struct HostTensor;
struct LowerContext;
struct Lowered;
template <class T>
struct OpDef;
template <class T>
struct Result;

struct LayerNorm {
  i64 axes = 1;           // 1..rank
  float epsilon = 1e-5f;  // 0 or more
  bool centered = true;
  bool to_length = false, of_bytes = false;
  bool operator==(const LayerNorm&) const = default;
  static void fields([[maybe_unused]] auto& self, [[maybe_unused]] auto&& visit) {
    visit("axes", self.axes);
    visit("epsilon", self.epsilon);
    visit("centered", self.centered);
    visit("to_length", self.to_length);
    visit("of_bytes", self.of_bytes);
  }
};
const OpDef<LayerNorm>& def_of(const LayerNorm&);
void execute(const LayerNorm&, std::span<const HostTensor> in,
             std::span<const HostTensor> out);  // execute.cpp
Result<Lowered> float_form(const LayerNorm&,
                           const LowerContext&);  // compile/lower/float_calls.cpp asks for it

bool simpler_form(const LayerNorm&, FormBuilder&);
bool parts_form(const LayerNorm&, FormBuilder&);          // forms.cpp; FormKind::parts
bool rounded_parts_form(const LayerNorm&, FormBuilder&);  // forms.cpp; FormKind::rounded_parts

}  // namespace deuteron
