// SPDX-License-Identifier: Apache-2.0
// y = min(max(x, low), high); without bounds a change of quantization parameters. relu, relu6,
// hardtanh and clamp are this. Operands  x     Result  y, as x
#pragma once
#include "ops/attributes.h"

namespace deuteron {

template <class T>
struct OpDef;
struct HostTensor;

struct Clamp {
  Bounds bounds;
  bool operator==(const Clamp&) const = default;
  static void fields([[maybe_unused]] auto& self, [[maybe_unused]] auto&& visit) {
    visit("bounds", self.bounds);
  }
};
const OpDef<Clamp>& def_of(const Clamp&);
void execute(const Clamp&, std::span<const HostTensor> in,
             std::span<const HostTensor> out);  // execute.cpp

}  // namespace deuteron
