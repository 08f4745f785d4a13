// SPDX-License-Identifier: Apache-2.0
// Float to the parameters of the result type: q = clamp(round_half_even(x * (1/scale)) +
// zero_point, low, high). Of int8 it makes int16, and of int16 int8, where
// ops/common/requantize_numbers.h has the numbers of one kernel call for it. Operands  x f32, s8 or
// s16     Result  y s8 or s16
#pragma once
#include "ops/attributes.h"

namespace deuteron {

template <class T>
struct OpDef;
struct HostTensor;

struct Quantize {
  Quant quant;
  bool operator==(const Quantize&) const = default;
  static void fields([[maybe_unused]] auto& self, [[maybe_unused]] auto&& visit) {
    visit("quant", self.quant);
  }
};
const OpDef<Quantize>& def_of(const Quantize&);
void execute(const Quantize&, std::span<const HostTensor> in,
             std::span<const HostTensor> out);  // execute.cpp

}  // namespace deuteron
