// SPDX-License-Identifier: Apache-2.0
// A recurrent layer that a model's quantizer left in float has no int8 ranges: they come from
// samples.
//   quantize(lstm(x))   becomes   quantize(lstm(dequantize(quantize(x))))
#include <algorithm>

#include "base/diagnostic.h"
#include "compile/calibrate/calibrate.h"
#include "compile/quantize/recurrent.h"
#include "ir/rewrite/borders.h"
#include "ops/families.h"

namespace deuteron {
namespace {

bool is_quantized_operand(const Graph& g, const Uses& uses, ValueId v) {
  return g.is_constant(v) || dequantized(g, uses, v) >= 0;
}

bool is_quantized_result(const Graph& g, const Uses& uses, ValueId v) {
  return std::any_of(uses.readers[v].begin(), uses.readers[v].end(),
                     [&](NodeId n) { return is_quantize(g.nodes[n].op); });
}

// The values that get a quantize and a dequantize: operands that are computed, and the results that
// are read when nobody quantizes one.
std::vector<ValueId> missing_ranges(const Graph& g) {
  const Uses uses(g);
  std::vector<ValueId> missing;
  const auto add = [&](ValueId v) {
    const bool in_float = g.type(v).dtype == DType::f32;  // else it has its range
    if (in_float && std::find(missing.begin(), missing.end(), v) == missing.end())
      missing.push_back(v);
  };
  for (const Node& node : g.nodes) {
    const i64 states = state_results(node.op);
    if (states == 0) continue;
    for (const ValueId v : node.inputs)
      if (!is_quantized_operand(g, uses, v)) add(v);
    const bool has_range = std::any_of(node.outputs.begin(), node.outputs.begin() + states,
                                       [&](ValueId v) { return is_quantized_result(g, uses, v); });
    for (size_t k = 0; k < node.outputs.size(); ++k) {
      const ValueId v = node.outputs[k];
      const bool is_read = !uses.readers[v].empty() || uses.output_uses[v] != 0;
      const bool is_cell = static_cast<i64>(k) >= states;
      if (is_read && (is_cell ? !is_quantized_result(g, uses, v) : !has_range)) add(v);
    }
  }
  return missing;
}

}  // namespace

void quantize_recurrent_layers(Graph& g, const Samples& samples, int threads,
                               Diagnostics& diagnostics) {
  if (samples.empty()) return;
  const std::vector<ValueId> missing = missing_ranges(g);
  if (missing.empty()) return;
  const auto seen = observe(g, samples, threads, diagnostics);
  if (!seen) return;
  const Graph reference = g;
  for (const ValueId v : missing) {
    const Observation& o = (*seen)[v];
    if (!o.seen) continue;
    const ActivationQuant chosen = choose(o, Observer::min_max, false, -128, 127);
    const Quant quant = per_tensor(chosen.scale, chosen.zero_point);
    size_t at = 0;
    Origin origin;
    for (size_t n = 0; n < g.nodes.size(); ++n) {
      const Node& node = g.nodes[n];
      if (std::find(node.outputs.begin(), node.outputs.end(), v) != node.outputs.end())
        at = n + 1, origin = node.origin;
    }
    for (const Node& node : g.nodes)
      if (origin.empty() &&
          std::find(node.inputs.begin(), node.inputs.end(), v) != node.inputs.end())
        origin = node.origin;
    const auto pair = steps_and_back(g, v, DType::s8, quant, origin);
    const ValueId real = pair[1].outputs[0];
    for (size_t n = at; n < g.nodes.size(); ++n)
      std::replace(g.nodes[n].inputs.begin(), g.nodes[n].inputs.end(), v, real);
    for (Port& port : g.outputs)
      if (port.value == v) port.value = real;
    g.nodes.insert(g.nodes.begin() + static_cast<std::ptrdiff_t>(at), pair.begin(), pair.end());
  }
  measure_cells(reference, samples, threads, g);
}

}  // namespace deuteron
