// SPDX-License-Identifier: Apache-2.0
// How the operands and the result of an operator are quantized, as data.
#pragma once
#include "base/tensor/type.h"

namespace deuteron {

// How an operand or result is quantized. The quantizer reads it; the last entry of OpDef::quantize
// is the result.
enum class Gran : u8 {
  none,         // stays as it is
  per_tensor,   // its own scale and zero point
  per_channel,  // one scale for each slice of `axis`
  derived,      // bias: scale = product of the scales of operands 0 and 1
  shared,       // the parameters of operand 0, whatever they are
  fixed,        // fixed_scale and fixed_zero
};
struct QuantSpec {
  DType dtype = DType::s8;
  Gran gran = Gran::none;
  i32 axis = 0;
  bool symmetric = false;
  float fixed_scale = 0;
  i32 fixed_zero = 0;
};

}  // namespace deuteron
