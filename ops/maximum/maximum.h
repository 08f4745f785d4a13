// SPDX-License-Identifier: Apache-2.0
// The larger of two elements, with broadcasting as NumPy has it: y = max(a, b). Quantized, all
// three share their parameters. Operands  a, b     Result  y, of the broadcast shape
#pragma once
#include "ops/attributes.h"

namespace deuteron {

template <class T>
struct OpDef;
struct HostTensor;

struct Maximum {
  bool operator==(const Maximum&) const = default;
  static void fields([[maybe_unused]] auto& self, [[maybe_unused]] auto&& visit) {}
};
const OpDef<Maximum>& def_of(const Maximum&);
void execute(const Maximum&, std::span<const HostTensor> in,
             std::span<const HostTensor> out);  // execute.cpp

}  // namespace deuteron
