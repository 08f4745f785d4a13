// SPDX-License-Identifier: Apache-2.0
// The part of scale_borders() for outputs (quantize/border_scales.h).
#pragma once
#include "quantize/border_scales.h"

namespace deuteron {

// Answers how many values that operators make for outputs got an Affine behind them. Values that are no longer used are left.
int scale_outputs(Graph& graph, const std::vector<Observation>& observations, const FloatPorts& ports);

}  // namespace deuteron
