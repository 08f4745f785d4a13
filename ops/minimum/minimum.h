// SPDX-License-Identifier: Apache-2.0
// The smaller of two elements, with broadcasting as NumPy has it: y = min(a, b). Quantized, all
// three share their parameters. Operands  a, b     Result  y, of the broadcast shape
#pragma once
#include "ops/attributes.h"

namespace deuteron {

template <class T>
struct OpDef;
struct HostTensor;

struct Minimum {
  bool operator==(const Minimum&) const = default;
  static void fields([[maybe_unused]] auto& self, [[maybe_unused]] auto&& visit) {}
};
const OpDef<Minimum>& def_of(const Minimum&);
void execute(const Minimum&, std::span<const HostTensor> in,
             std::span<const HostTensor> out);  // execute.cpp

}  // namespace deuteron
