// SPDX-License-Identifier: Apache-2.0
// What needs finer numbers than steps of one size are. Front ends of sound: a spectrum, its energy,
// the logarithm of that, which tells 1e-6 from 1e-5 as well as 0.1 from 1. And what becomes an
// integer: a step next to it is another row of a table.
#pragma once
#include <optional>
#include <vector>

#include "compile/quantize/candidate.h"

namespace deuteron {

// By node: it leads from an input to a logarithm that a layer reads, or to an integer.
std::vector<bool> front_ends(const Graph& graph);
// By node: it leads to an integer, and no layer lies between. It is in float where it may.
std::vector<bool> becomes_integers(const Graph& graph);

// Held out, dB.
struct FrontEndsInFloat {
  double before, after;
};
// Steps have lost the network, and float halves the error. Held out, dB.
bool float_brings_back(double before, double after);

// Sets options.front_ends_in_float where steps have lost the network and float brings it back.
std::optional<FrontEndsInFloat> keep_front_ends(QuantizationCandidate& plain, Yardstick& yardstick);

}  // namespace deuteron
