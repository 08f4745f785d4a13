// SPDX-License-Identifier: Apache-2.0
// Running sums along one axis: y[.., k, ..] = x[.., 0, ..] + .. + x[.., k, ..].
// Operands  x     Result  y, as x
#pragma once
#include "ops/attributes.h"

namespace deuteron {

template <class T>
struct OpDef;
template <class T>
struct Result;
struct HostTensor;
struct LowerContext;
struct Lowered;

struct Cumsum {
  i64 axis = 0;  // 0..rank-1
  bool operator==(const Cumsum&) const = default;
  static void fields([[maybe_unused]] auto& self, [[maybe_unused]] auto&& visit) {
    visit("axis", self.axis);
  }
};
const OpDef<Cumsum>& def_of(const Cumsum&);
void execute(const Cumsum&, std::span<const HostTensor> in,
             std::span<const HostTensor> out);  // execute.cpp
Result<Lowered> float_form(const Cumsum&,
                           const LowerContext&);  // compile/lower/float_calls.cpp asks for it

}  // namespace deuteron
