// SPDX-License-Identifier: Apache-2.0
// Every step-th slice of x along one axis: y[.., k, ..] = x[.., start + k * step, ..].
// Operands  x     Result  y, extent `count` along `axis`
#pragma once
#include "ops/attributes.h"

namespace deuteron {

template <class T>
struct OpDef;
struct HostTensor;

struct Slice {
  i64 axis = 0, start = 0, count = 0, step = 1;
  bool operator==(const Slice&) const = default;
  static void fields([[maybe_unused]] auto& self, [[maybe_unused]] auto&& visit) {
    visit("axis", self.axis);
    visit("start", self.start);
    visit("count", self.count);
    visit("step", self.step);
  }
};
const OpDef<Slice>& def_of(const Slice&);
void execute(const Slice&, std::span<const HostTensor> in,
             std::span<const HostTensor> out);  // execute.cpp

// Its bytes lie together in x: the slice needs no copy, only another address.
bool is_contiguous(const Slice&, const Shape& x);
// Elements of x before the first one of the slice, where it is contiguous.
i64 first_element(const Slice&, const Shape& x);

}  // namespace deuteron
