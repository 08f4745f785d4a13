// SPDX-License-Identifier: Apache-2.0
// The same elements in the same order under another shape. Costs nothing: the result lies where the
// operand lies. Operands  x     Result  y
#pragma once
#include "ops/attributes.h"

namespace deuteron {

template <class T>
struct OpDef;
struct HostTensor;

struct Reshape {
  Shape shape;
  bool operator==(const Reshape&) const = default;
  static void fields([[maybe_unused]] auto& self, [[maybe_unused]] auto&& visit) {
    visit("shape", self.shape);
  }
};
const OpDef<Reshape>& def_of(const Reshape&);
void execute(const Reshape&, std::span<const HostTensor> in,
             std::span<const HostTensor> out);  // execute.cpp

}  // namespace deuteron
