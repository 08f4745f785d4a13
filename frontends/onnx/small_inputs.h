// SPDX-License-Identifier: Apache-2.0
// Inputs of uint8 and int8: numbers, positions, or steps of a quantized tensor, by what reads them.
#pragma once
#include <string>

#include "frontends/onnx/call/state.h"

namespace deuteron::onnx {

enum class SmallInput : u8 { unknown, numbers, positions, steps };

// For steps `scale` is told, the first reader that names their scale.
SmallInput kind_of_input(const Model& model, const std::string& input, StepsReader* scale);

}  // namespace deuteron::onnx
