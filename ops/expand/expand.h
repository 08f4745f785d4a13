// SPDX-License-Identifier: Apache-2.0
// Repeats elements along axes of extent 1: y[i,..] = x[i or 0,..].
// Operands  x, of the rank of `shape`     Result  y
#pragma once
#include "ops/attributes.h"

namespace deuteron {

template <class T>
struct OpDef;
struct HostTensor;
class FormBuilder;

struct Expand {
  Shape shape;
  // Of one axis.
  std::optional<Repeat> repeat(const Shape& x) const;
  bool operator==(const Expand&) const = default;
  static void fields([[maybe_unused]] auto& self, [[maybe_unused]] auto&& visit) {
    visit("shape", self.shape);
  }
};
const OpDef<Expand>& def_of(const Expand&);
void execute(const Expand&, std::span<const HostTensor> in,
             std::span<const HostTensor> out);  // execute.cpp

// forms.cpp
bool kernel_form(const Expand&, FormBuilder&);

}  // namespace deuteron
