// SPDX-License-Identifier: Apache-2.0
// Picks slices of x along one axis by known positions: y[.., k, ..] = x[.., index[k], ..]. Flips,
// rolls and mirrored borders are gathers. Operands  x     Result  y, extent index.size() along
// `axis`
#pragma once
#include "ops/attributes.h"

namespace deuteron {

template <class T>
struct OpDef;
struct HostTensor;

struct Gather {
  i64 axis = 0;
  Axes index;
  // Each slice so many times, one after the other: 0,0,1,1,..
  std::optional<Repeat> repeat(const Shape& x) const;
  bool operator==(const Gather&) const = default;
  static void fields([[maybe_unused]] auto& self, [[maybe_unused]] auto&& visit) {
    visit("axis", self.axis);
    visit("index", self.index);
  }
};
const OpDef<Gather>& def_of(const Gather&);
void execute(const Gather&, std::span<const HostTensor> in,
             std::span<const HostTensor> out);  // execute.cpp

}  // namespace deuteron
