// SPDX-License-Identifier: Apache-2.0
// A way to quantize a network, and what it costs at its outputs.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compile/quantize/insert_quantization.h"
#include "compile/quantize/yardstick.h"

namespace deuteron {

// A float graph, what was seen of it, and the best way so far to quantize it.
struct QuantizationCandidate {
  std::shared_ptr<const Graph> graph;
  // By part, the same graph with constants that say nothing of that part; null: none of its
  // constants were taken from samples.
  Versions versions;
  std::shared_ptr<const Seen> seen;
  QuantizeOptions options;
  std::shared_ptr<const SeenByWeights> weights;  // null: weights are rounded one by one
  // By part, the same as weights->without; null: asked for each time. A search that measures often
  // keeps them.
  std::shared_ptr<const std::vector<LayerMoments>> moments;
  std::string name;
  Score score;      // held out
  double risk = 0;  // dB that it must be better by than one without
  double value() const { return score.value - risk; }
  // Changes the graph, and each version of it by what was seen of that; answers what the change
  // says of the graph. What was seen no longer holds.
  int change(const std::function<int(Graph&, const std::vector<Observation>&)>& how);
};
using Measured = std::vector<QuantizationCandidate>;  // in the order of a search

// Simulates it in one version for each part of the samples, which its ranges were not chosen on,
// and notes its score.
void measure(QuantizationCandidate& c, Yardstick& yardstick);

// The graph as a program would have it: its ranges are chosen on all samples. Warnings go to
// `diagnostics`.
std::vector<QuantizedValue> quantize_on_all(const QuantizationCandidate& c, Graph& graph,
                                            Diagnostics& diagnostics);

// The same to see what the program costs: weights are rounded one by one, which changes no size,
// and nothing is said.
Graph sized_on_all(QuantizationCandidate c);

}  // namespace deuteron
