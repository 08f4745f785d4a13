// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/candidate.h"

namespace deuteron {

void measure(QuantizationCandidate& c, Yardstick& yardstick) {
  c.score = yardstick.held_out([&](i32 part) {
    Graph graph = *c.graph;
    QuantizeOptions options = c.options;
    LayerMoments moments;
    if (c.moments) options.moments = &(*c.moments)[part];
    else if (c.weights) moments = c.weights->without(part), options.moments = &moments;
    Diagnostics silent;  // told once, for the candidate that is taken
    insert_quantization(graph, c.seen->without[part], options, silent);
    return graph;
  });
}

std::vector<QuantizedValue> quantize_on_all(const QuantizationCandidate& c, Graph& graph,
                                            Diagnostics& diagnostics) {
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
