// SPDX-License-Identifier: Apache-2.0
// Reorders axes: y.shape[k] = x.shape[perm[k]].
// Operands  x     Result  y
#pragma once
#include "ops/attributes.h"

namespace deuteron {

template <class T>
struct OpDef;
struct HostTensor;
class FormBuilder;

struct Permute {
  Axes perm;
  bool operator==(const Permute&) const = default;
  static void fields([[maybe_unused]] auto& self, [[maybe_unused]] auto&& visit) {
    visit("perm", self.perm);
  }
};
const OpDef<Permute>& def_of(const Permute&);
void execute(const Permute&, std::span<const HostTensor> in,
             std::span<const HostTensor> out);  // execute.cpp

// forms.cpp
bool last_form(const Permute&, FormBuilder&);

}  // namespace deuteron
