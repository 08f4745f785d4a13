// SPDX-License-Identifier: Apache-2.0
// Steps, as quantized tensors hold them, and the real numbers that they stand for.
#pragma once
#include "frontends/onnx/call/call.h"

namespace deuteron::onnx {

// Scales and zero points of a tensor: one of each, or one for each index of an axis.
struct Steps {
  std::vector<float> scale;
  std::vector<i64> zero;
  DType dtype = DType::u8;  // s8, u8 or s32
  i64 low = 0, high = 255;  // what a quantize clamps to: the type's range, or that of 4 bits
  bool by_channel() const { return scale.size() > 1; }
};

// From two operands that have to be known; the second may be missing: zero, of type `otherwise`.
Steps read_steps(Call& c, size_t scale, size_t zero, DType otherwise = DType::u8,
                 Element width = Element::undefined);

Operand quantized(Call& c, const Operand& x, const Steps& steps, i64 axis, std::string_view suffix);
Operand dequantized(Call& c, const Operand& q, const Steps& steps, i64 axis,
                    std::string_view suffix);
// Of known steps with a scale for each block along the axis; scales and zero points are operands 1
// and 2.
Operand dequantized_blocks(Call& c, const Operand& q, i64 block);

}  // namespace deuteron::onnx
