// The definitions of a recurrent operator differ in nothing but their operands: those of one direction, or of two.
#pragma once
#include "ops/op.h"

namespace deuteron {

template <class T>
constexpr OpDef<T> with_operands(OpDef<T> def, std::span<const QuantSpec> quantize) {
  def.quantize = quantize;
  return def;
}

// What a step of an initial state may be, in steps of the kept one: a shift that the kernel takes.
inline double most_first_scale(const LowerContext& c) { return c.in[0].dtype == DType::s16 ? 16384 : 1048576; }

}  // namespace deuteron
