// SPDX-License-Identifier: Apache-2.0
// Element-wise sum with broadcasting as NumPy has it: y = bounds(a + alpha * b).
// Operands  a, b     Result  y, of the broadcast shape
#pragma once
#include "ops/attributes.h"

namespace deuteron {

template <class T>
struct OpDef;
struct HostTensor;

struct Add {
  Bounds bounds;
  float alpha = 1;       // -1: a difference
  bool shifted = false;  // on int16, with scales that are powers of two: the finer operand is
                         // rounded to the result's steps first
  bool operator==(const Add&) const = default;
  static void fields([[maybe_unused]] auto& self, [[maybe_unused]] auto&& visit) {
    visit("bounds", self.bounds);
    visit("alpha", self.alpha);
    visit("shifted", self.shifted);
  }
};
const OpDef<Add>& def_of(const Add&);
void execute(const Add&, std::span<const HostTensor> in,
             std::span<const HostTensor> out);  // execute.cpp

}  // namespace deuteron
