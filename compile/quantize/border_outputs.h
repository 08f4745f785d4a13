// SPDX-License-Identifier: Apache-2.0
// The part of scale_borders() for outputs (compile/quantize/border_scales.h).
#pragma once
#include "compile/quantize/border_scales.h"
#include "compile/quantize/channel_sizes.h"

namespace deuteron {

// Answers how many values that operators make for outputs got an Affine behind them. Values that
// are no longer used are left.
int scale_outputs(Graph& graph, const SeenRanges& seen, const FloatPorts& ports);

// By value: everything that reads it only moves it to float outputs.
std::vector<bool> moved_to_outputs(const Graph& graph, const FloatPorts& ports);
// Puts an Affine behind y; the channels of what a layer makes get sizes of their own where they
// differ by enough.
void leave_as_float(Graph& graph, ValueId y, const SeenRanges& seen);

}  // namespace deuteron
