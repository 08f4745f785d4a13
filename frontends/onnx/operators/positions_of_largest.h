// SPDX-License-Identifier: Apache-2.0
// The second result of MaxPool: where the largest elements lie.
#pragma once
#include "frontends/onnx/operators/window.h"

namespace deuteron::onnx {

// Both results of a MaxPool of signals or images.
void finish_max_pool_with_positions(Call& c, const Operand& x, const Window& w, bool ceil_mode);

}  // namespace deuteron::onnx
