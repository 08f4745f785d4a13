// SPDX-License-Identifier: Apache-2.0
// Means and sums of the NPU are rounded as TFLite's (ops/reduce/rounding.h): of numbers that are
// never negative they are too large. The layers that read them take it out of their biases.
#pragma once
#include "ir/graph.h"

namespace deuteron {

double excess_of_sum(const Graph& graph, const Node& node);
// Of a graph of the NPU; answers how many biases changed.
int correct_biases_behind_means(Graph& graph);

}  // namespace deuteron
