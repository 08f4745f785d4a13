// SPDX-License-Identifier: Apache-2.0
// Surrounds x with a constant. Negative extents crop.
// Operands  x     Result  y, extent before[k] + x.shape[k] + after[k]
#pragma once
#include "ops/attributes.h"

namespace deuteron {

template <class T>
struct OpDef;
struct HostTensor;
class FormBuilder;

struct Pad {
  Axes before, after;  // one entry for each axis
  float value = 0;
  bool operator==(const Pad&) const = default;
  static void fields([[maybe_unused]] auto& self, [[maybe_unused]] auto&& visit) {
    visit("before", self.before);
    visit("after", self.after);
    visit("value", self.value);
  }
};
const OpDef<Pad>& def_of(const Pad&);
void execute(const Pad&, std::span<const HostTensor> in,
             std::span<const HostTensor> out);  // execute.cpp

// forms.cpp
bool simpler_form(const Pad&, FormBuilder&);

}  // namespace deuteron
