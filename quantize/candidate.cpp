// SPDX-License-Identifier: Apache-2.0
#include "quantize/candidate.h"

#include "calibrate/float_executor.h"

namespace deuteron {

void measure(QuantizationCandidate& c, Yardstick& yardstick) {
  std::vector<Graph> graphs(c.seen->without.size(), *c.graph);
  std::vector<std::unique_ptr<FloatExecutor>> executors;
  Diagnostics silent;  // told once, for the candidate that is taken
  for (size_t part = 0; part < graphs.size(); ++part) {
    QuantizeOptions options = c.options;
    LayerMoments moments;
    if (c.moments) options.moments = &(*c.moments)[part];
    else if (c.weights) moments = c.weights->without(static_cast<i32>(part)), options.moments = &moments;
    insert_quantization(graphs[part], c.seen->without[part], options, silent);
    yardstick.show_what_is_compared(graphs[part]);
    executors.push_back(std::make_unique<FloatExecutor>(graphs[part]));
  }
  c.score = yardstick.held_out(executors);
}

std::vector<QuantizedValue> quantize_on_all(const QuantizationCandidate& c, Graph& graph, Diagnostics& diagnostics) {
  QuantizeOptions options = c.options;
  if (c.weights) options.moments = &c.weights->all;
  graph = *c.graph;
  return insert_quantization(graph, c.seen->all, options, diagnostics);
}

Graph sized_on_all(QuantizationCandidate c) {
  c.weights = nullptr;
  Graph quantized;
  Diagnostics silent;
  quantize_on_all(c, quantized, silent);
  return quantized;
}

}  // namespace deuteron
