// SPDX-License-Identifier: Apache-2.0
// Scores without an upper end: a mean of squares, a distance, a norm that becomes an output. What a
// network was trained for lies low, and what the score is there to find lies far above all that
// calibration has seen; steps that fit the samples would cut it off.
#pragma once
#include <vector>

#include "ir/graph.h"

namespace deuteron {

// By node: it computes such a score, from the difference that is squared to the output, and stays
// in float where it may.
std::vector<bool> open_ended_scores(const Graph& graph);

// What becomes of the number x, with the first one of each constant; NaN: it is no function of one
// number.
float value_at(const Graph& graph, const Node& node, float x);

}  // namespace deuteron
