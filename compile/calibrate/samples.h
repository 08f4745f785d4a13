// SPDX-License-Identifier: Apache-2.0
// Float input data for a graph: what calibration, comparison and evaluation run on.
#pragma once
#include <span>
#include <vector>

#include "ir/graph.h"

namespace deuteron {

// samples[s][i]: sample s, graph input i, in the *user's* axes (row-major in logical_shape(port)),
// float32.
using Samples = std::vector<std::vector<std::vector<float>>>;

// Row-major data in the user's axes to the storage order of the port, and back.
std::vector<float> to_storage(const Port& port, const Shape& storage, std::span<const float> user);
std::vector<float> to_user(const Port& port, const Shape& storage, std::span<const float> stored);

// One sample, for the first inputs of the graph: states may follow them.
std::vector<std::vector<float>> stored_inputs(const Graph& g,
                                              std::span<const std::vector<float>> sample);

}  // namespace deuteron
