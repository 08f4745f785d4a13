// Float models get their int8 parameters from calibration; quantized models keep theirs.
#include <fmt/format.h>

#include <algorithm>

#include "ops/families.h"
#include "passes/compilation.h"
#include "passes/npu_support.h"
#include "passes/options.h"
#include "passes/pass.h"
#include "quantize/quantization_clusters.h"
#include "quantize/quantization_search.h"
#include "quantize/recurrent.h"
#include "targets/target.h"

namespace deuteron {

bool is_quantized(const Graph& g) {
  return g.numerics == Numerics::tflite ||
         std::any_of(g.nodes.begin(), g.nodes.end(), [](const Node& n) { return is_quantize_or_dequantize(n.op); });
}

// Operators that would be quantized, on a target that has no int16 kernels: each is refused by name.
static void refuse_int16(PassContext& pass, const char* why) {
  QuantizeOptions int8;
  for (const Node& node : pass.graph.nodes)
    if (!quant_specs(pass.graph, node, int8).empty())
      pass.diagnostics.error(fmt::format("{}: {}", pass.graph.name, describe(pass.graph, node)), why, "precision.int16",
                             "compile for our runtime on a Cortex-M (--dialect deuteron), or leave --precision out");
}

// Null: the target runs int16 operators.
static const char* why_not_int16(const PassContext& pass) {
  if (pass.target.npu) return "cannot work on int16: the NPU has int8 only";
  if (pass.target.options.dialect == "stock") return "cannot work on int16: stock firmware has no such kernels";
  return nullptr;
}

void quantize_post_training(PassContext& pass) {
  pass.result.reference = pass.result.equalized = pass.graph;
  QuantizationDecisions& decisions = pass.result.quantization;
  decisions.model_was_quantized = is_quantized(pass.graph);
  if (decisions.model_was_quantized) {
    if (pass.options.quantize.precision == Precision::int16)
      return pass.diagnostics.error(pass.graph.name, "is quantized already, and keeps its steps", "precision.quantized",
                                    "give the float model, or leave --precision out");
    quantize_recurrent_layers(pass.graph, pass.samples, pass.options.threads, pass.diagnostics);
    return;
  }
  if (pass.samples.empty()) {
    pass.diagnostics.error(pass.graph.name, "a float model needs calibration data", "calibrate.none",
                           "give --calibrate FILE for each input (.npy, .npz, .bin, images, or a folder of them)");
    return;
  }
  if (pass.options.quantize.precision == Precision::int16)
    if (const char* why = why_not_int16(pass)) return refuse_int16(pass, why);
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
