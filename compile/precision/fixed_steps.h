// SPDX-License-Identifier: Apache-2.0
// Sigmoid and tanh have a result of fixed steps on the NPU, 1/256 and 1/128. What is narrow, or
// scaled up behind them, would be told apart by finer ones.
#pragma once
#include "compile/calibrate/calibrate.h"
#include "ir/graph.h"

namespace deuteron {

// Whether such a function is the node, or a step of what it becomes on the NPU.
bool has_fixed_step_on_npu(const Node& node);

// dB of signal to noise that the result of such a node loses where the NPU computes it, against one
// table over what was seen of its operand and its result.
double loss_by_fixed_steps(const Node& node, const Observation& x, const Observation& y);

}  // namespace deuteron
