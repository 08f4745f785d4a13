// SPDX-License-Identifier: Apache-2.0
// Element-wise quotient with broadcasting as NumPy has it: y = a / b.
// Operands  a, b     Result  y, of the broadcast shape
#pragma once
#include "ops/attributes.h"

namespace deuteron {

template <class T>
struct OpDef;
struct HostTensor;

struct Div {
  bool operator==(const Div&) const = default;
  static void fields([[maybe_unused]] auto& self, [[maybe_unused]] auto&& visit) {}
};
const OpDef<Div>& def_of(const Div&);
void execute(const Div&, std::span<const HostTensor> in,
             std::span<const HostTensor> out);  // execute.cpp

}  // namespace deuteron
