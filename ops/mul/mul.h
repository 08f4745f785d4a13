// SPDX-License-Identifier: Apache-2.0
// Element-wise product with broadcasting as NumPy has it: y = a * b.
// Operands  a, b     Result  y, of the broadcast shape
#pragma once
#include "ops/attributes.h"

namespace deuteron {

template <class T>
struct OpDef;
struct HostTensor;

struct Mul {
  bool operator==(const Mul&) const = default;
  static void fields([[maybe_unused]] auto& self, [[maybe_unused]] auto&& visit) {}
};
const OpDef<Mul>& def_of(const Mul&);
void execute(const Mul&, std::span<const HostTensor> in,
             std::span<const HostTensor> out);  // execute.cpp

}  // namespace deuteron
