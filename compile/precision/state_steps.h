// SPDX-License-Identifier: Apache-2.0
// Steps of the states of quantized models, whose tools leave them in float.
#pragma once
#include "ir/graph.h"

namespace deuteron {

// Puts quantize and dequantize at both ends of each state that changes in no bit by it: one whose
// contents are always such steps, or one that is read as such steps alone.
void give_states_steps(Graph& graph);

}  // namespace deuteron
