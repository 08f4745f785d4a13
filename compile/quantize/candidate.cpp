// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/candidate.h"

namespace deuteron {

int QuantizationCandidate::change(
    const std::function<int(Graph&, const std::vector<Observation>&)>& how) {
  Graph changed = *graph;
  const int places = how(changed, seen->all);
  graph = std::make_shared<const Graph>(std::move(changed));
  if (!versions) return places;
  std::vector<Graph> by_part = *versions;
  for (size_t part = 0; part < by_part.size(); ++part) how(by_part[part], seen->without[part]);
  versions = std::make_shared<const std::vector<Graph>>(std::move(by_part));
  return places;
}

void measure(QuantizationCandidate& c, Yardstick& yardstick) {
  c.score = yardstick.held_out([&](i32 part) {
    Graph graph = c.versions ? (*c.versions)[part] : *c.graph;
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
