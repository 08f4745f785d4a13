// SPDX-License-Identifier: Apache-2.0
// Fully connected layer over the last axis.
//   y[..,o] = bounds(bias[o] + sum over i of x[..,i] * weight[o,i])
// Operands  x [..,in], weight [out,in], optional bias [out]     Result  y [..,out]
#pragma once
#include "ops/attributes.h"

namespace deuteron {

template <class T>
struct OpDef;
struct HostTensor;

struct Linear {
  Bounds bounds;
  bool operator==(const Linear&) const = default;
  static void fields([[maybe_unused]] auto& self, [[maybe_unused]] auto&& visit) {
    visit("bounds", self.bounds);
  }
};
const OpDef<Linear>& def_of(const Linear&);
void execute(const Linear&, std::span<const HostTensor> in,
             std::span<const HostTensor> out);  // execute.cpp

}  // namespace deuteron
