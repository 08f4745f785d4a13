// Float models get their int8 parameters from calibration; quantized models keep theirs.
#include <algorithm>

#include "ops/families.h"
#include "passes/compilation.h"
#include "passes/npu_support.h"
#include "passes/options.h"
#include "passes/pass.h"
#include "quantize/quantization_search.h"
#include "quantize/recurrent.h"
#include "targets/target.h"

namespace deuteron {

bool is_quantized(const Graph& g) {
  return g.numerics == Numerics::tflite ||
         std::any_of(g.nodes.begin(), g.nodes.end(), [](const Node& n) { return is_quantize_or_dequantize(n.op); });
}

void quantize_post_training(PassContext& pass) {
  pass.result.reference = pass.result.equalized = pass.graph;
  QuantizationDecisions& decisions = pass.result.quantization;
  decisions.model_was_quantized = is_quantized(pass.graph);
  if (decisions.model_was_quantized) {
    quantize_recurrent_layers(pass.graph, pass.samples, pass.options.threads, pass.diagnostics);
    return;
  }
  if (pass.samples.empty()) {
    pass.diagnostics.error(pass.graph.name, "a float model needs calibration data", "calibrate.none",
                           "give --calibrate FILE for each input (.npy, .npz, .bin, images, or a folder of them)");
    return;
  }
  // Support is asked first: what the NPU refuses is quantized by the rules of the CPU.
  QuantizeOptions options = pass.options.quantize;
  if (pass.target.npu)
    options.runs_on_npu = [&](const Graph& g, const Node& node) { return npu_takes(g, node, pass.target, pass.options.npu); };
  std::optional<QuantizationChoice> choice =
      calibrate_and_quantize(pass.graph, pass.samples, options, pass.options.threads, pass.diagnostics);
  if (!choice) return;
  measure_cells(pass.result.reference, pass.samples, pass.options.threads, pass.graph);
  pass.result.equalized = std::move(choice->equalized);
  decisions.values = std::move(choice->values);
  decisions.policy = std::move(choice->policy);
  decisions.held_out = choice->held_out;
  decisions.gain_db = choice->gain_db;
}

}  // namespace deuteron
