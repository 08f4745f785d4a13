// SPDX-License-Identifier: Apache-2.0
// Batch normalization with given statistics over the last axis: y = (x - mean) / sqrt(variance +
// epsilon) * weight + bias. Operands  x [..,c], weight [c], bias [c], mean [c], variance [c] Result
// y, as x. Float only: folded before quantization.
#pragma once
#include "ops/attributes.h"

namespace deuteron {

template <class T>
struct OpDef;
struct HostTensor;
class FormBuilder;

struct BatchNorm {
  float epsilon = 1e-5f;
  bool operator==(const BatchNorm&) const = default;
  static void fields([[maybe_unused]] auto& self, [[maybe_unused]] auto&& visit) {
    visit("epsilon", self.epsilon);
  }
};
const OpDef<BatchNorm>& def_of(const BatchNorm&);
void execute(const BatchNorm&, std::span<const HostTensor> in,
             std::span<const HostTensor> out);  // execute.cpp

// forms.cpp
bool simpler_form(const BatchNorm&, FormBuilder&);

}  // namespace deuteron
