// The definitions of a recurrent operator differ in nothing but their operands: those of one direction, or of two.
#pragma once
#include "ops/op.h"

namespace deuteron {

template <class T>
constexpr OpDef<T> with_operands(OpDef<T> def, std::span<const QuantSpec> quantize) {
  def.quantize = quantize;
  return def;
}

}  // namespace deuteron
