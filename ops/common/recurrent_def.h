// SPDX-License-Identifier: Apache-2.0
// The definitions of a recurrent operator differ in nothing but their operands: those of one
// direction, or of two.
#pragma once
#include <fmt/format.h>

#include <cmath>

#include "kernels/recurrent/kernel.h"
#include "ops/op.h"

namespace deuteron {

template <class T>
constexpr OpDef<T> with_operands(OpDef<T> def, std::span<const QuantSpec> quantize) {
  def.quantize = quantize;
  return def;
}

// `scale`: a step of an initial state, in steps of the kept one. Null: a shift that the kernel
// takes.
inline std::optional<Refusal> why_not_first_scale(const LowerContext& c, const char* state,
                                                  double scale, const char* rule) {
  const int most = c.in[0].dtype == DType::s16 ? kMostFirstShift<int16_t> : kMostFirstShift<int8_t>;
  if (scale < std::ldexp(1.0, most)) return std::nullopt;
  return Refusal{fmt::format("the scale of the initial {} is too coarse", state),
                 fmt::format("{}", scale), fmt::format("2^{}", most), rule};
}

}  // namespace deuteron
