// SPDX-License-Identifier: Apache-2.0
// Puts its operands one behind the other along one axis. All other extents are equal.
// Operands  x0, x1, ..     Result  y
#pragma once
#include "ops/attributes.h"

namespace deuteron {

template <class T>
struct OpDef;
struct HostTensor;

struct Concat {
  i64 axis = 0;
  bool operator==(const Concat&) const = default;
  static void fields([[maybe_unused]] auto& self, [[maybe_unused]] auto&& visit) {
    visit("axis", self.axis);
  }
};
const OpDef<Concat>& def_of(const Concat&);
void execute(const Concat&, std::span<const HostTensor> in,
             std::span<const HostTensor> out);  // execute.cpp

}  // namespace deuteron
