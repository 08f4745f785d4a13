// SPDX-License-Identifier: Apache-2.0
// x = scale * (q - zero_point), with the parameters of the operand type.
// Operands  x s8, s16 or s32     Result  y f32
#pragma once
#include "ops/attributes.h"

namespace deuteron {

template <class T>
struct OpDef;
struct HostTensor;

struct Dequantize {
  bool operator==(const Dequantize&) const = default;
  static void fields([[maybe_unused]] auto& self, [[maybe_unused]] auto&& visit) {}
};
const OpDef<Dequantize>& def_of(const Dequantize&);
void execute(const Dequantize&, std::span<const HostTensor> in,
             std::span<const HostTensor> out);  // execute.cpp

}  // namespace deuteron
