// SPDX-License-Identifier: Apache-2.0
// Masks and the padding of maxima hold minus infinity on purpose. In a graph it is a finite number
// (base/tensor/elements.h), so that calibration and kernels can work with it. Every front end ends
// with this.
#pragma once
#include <string>

#include "base/diagnostic.h"
#include "ir/graph.h"

namespace deuteron {

// -inf in constants and paddings   becomes   kMinusInfinity
// Refused by `rule` where it is a weight or a factor; infinity and what is not a number are refused
// everywhere.
void write_minus_infinity(Graph& g, const std::string& rule, Diagnostics& diagnostics);

}  // namespace deuteron
