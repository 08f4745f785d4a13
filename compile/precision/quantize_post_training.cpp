// SPDX-License-Identifier: Apache-2.0
// Float models get their int8 parameters from calibration; quantized models keep theirs.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "compile/compilation.h"
#include "compile/cost/program_cost.h"
#include "compile/options.h"
#include "compile/pass.h"
#include "compile/place/choose_forms.h"
#include "compile/place/npu_support.h"
#include "compile/plan/plan_memory.h"
#include "compile/precision/precision.h"
#include "compile/quantize/front_ends.h"
#include "compile/quantize/open_ended.h"
#include "compile/quantize/quantization_clusters.h"
#include "compile/quantize/quantization_search.h"
#include "compile/quantize/recurrent.h"
#include "compile/trial.h"
#include "ops/families.h"
#include "targets/target.h"
#include "write/pte/pte.h"

namespace deuteron {

// Beside constants. A network of integers alone has no ranges to choose.
static bool computes_in_float(const Graph& g) {
  return std::ranges::any_of(
      g.values, [](const GraphValue& v) { return v.type.dtype == DType::f32 && !v.constant; });
}

bool is_quantized(const Graph& g) {
  return g.numerics == Numerics::tflite || !computes_in_float(g) ||
         std::any_of(g.nodes.begin(), g.nodes.end(),
                     [](const Node& n) { return is_quantize_or_dequantize(n.op); });
}

// The rest of the pipeline, on a graph of its own. Bands of rows are left out (Trial): they cost
// both sides the same kind of work.
static std::optional<ProgramSize> size_of(const PassContext& pass, const Graph& quantized,
                                          Diagnostics& diagnostics, bool without_cost = false) {
  Trial trial(pass, quantized);
  if (!trial.run("fold-quantization", "fit-scratch")) {
    for (const Diagnostic& d : trial.diagnostics.list()) diagnostics.add(d);
    return std::nullopt;
  }
  const ProgramCost cost = program_cost(trial.graph, 0, pass.target);
  const bool is_known = cost.cpu > 0 && cost.not_known == 0;
  if (!is_known && !without_cost) return std::nullopt;
  const MemoryPlan plan = plan_memory(trial.graph);
  PteParts parts;
  return ProgramSize{
      is_known ? cost.cpu : 0, plan.bytes,
      static_cast<i64>(write_pte(trial.graph, plan, pass.target.isa, &parts).size())};
}

// The same in int8 and with some weights of four bits. Instructions: 0 where the target does not
// know them.
static WeightLimits weight_limits(PassContext& pass) {
  const auto is_first = std::make_shared<bool>(true);
  return {pass.options.max_loss_db, pass.options.target_db,
          [&pass, is_first](const Graph& quantized) -> std::optional<ProgramSize> {
            Diagnostics silent;
            return size_of(pass, quantized,
                           std::exchange(*is_first, false) ? pass.diagnostics : silent, true);
          },
          [&pass](const Graph& g, const Node& node) { return is_int4_layer(pass, g, node); }};
}

static MixedPrecision mixed_precision(PassContext& pass) {
  const auto is_first = std::make_shared<bool>(true);
  return {
      pass.options.max_cost, pass.options.target_db, pass.options.may_use_float,
      [&pass, is_first](const Graph& quantized) {
        Diagnostics
            silent;  // what stands in the way of int8 is told; another choice is then not possible
        return size_of(pass, quantized,
                       std::exchange(*is_first, false) ? pass.diagnostics : silent);
      }};
}

// A model of TFLite with int16 activations keeps TFLite's bits, which float would not have.
static bool has_int16_steps(const Graph& g) {
  return std::ranges::any_of(g.nodes, [&](const Node& n) {
    return is_quantize(n.op) && g.type(n.outputs[0]).dtype == DType::s16;
  });
}

// A stream's step reads and writes rows of what the ports are, and without a CPU's backend there is
// only a quantize and a dequantize. With
// --strict nothing may need a portable kernel. Few samples say too little of each channel.
static FloatPorts float_ports(const PassContext& pass) {
  constexpr size_t kFewSamples = 16;
  const bool are_float = pass.options.ports != PortTypes::steps && pass.options.stream.empty() &&
                         pass.options.may_use_float && pass.samples.size() >= kFewSamples &&
                         pass.target.has_backend("cortex_m");
  FloatPorts ports{std::vector<bool>(pass.graph.user_inputs().size(), are_float),
                   std::vector<bool>(pass.graph.user_outputs().size(), are_float)};
  for (size_t i = 0; i < ports.inputs.size(); ++i)
    if (byte_input(pass.options.byte_inputs, i)) ports.inputs[i] = false;
  return ports;
}

// Support is asked first: what the NPU refuses is quantized by the rules of the CPU.
QuantizeOptions quantize_options(const PassContext& pass) {
  QuantizeOptions options = pass.options.quantize;
  if (pass.target.npu)
    options.runs_on_npu = [&pass](const Graph& g, const Node& node) {
      if (keeps_exact_form(pass.rules(), node)) return false;
      return npu_takes(g, node, pass.target, pass.options.npu);
    };
  options.float_ports = float_ports(pass);
  options.may_use_float = pass.options.may_use_float && pass.options.ports != PortTypes::steps &&
                          pass.target.has_backend("cortex_m");
  if (pass.options.precision == NetworkPrecision::int16) options.precision = Precision::int16;
  if (!pass.options.layers.empty())
    options.precision_of = [&pass](const Graph& g, const Node& n) {
      return precision_of(pass, g, n);
    };
  if (has_int4_weights(pass.options) && !searches_int4_layers(pass.options))
    options.has_int4_weights = [&pass](const Graph& g, const Node& n) {
      return is_int4_layer(pass, g, n);
    };
  return options;
}

static void note_scores(PassContext& pass) {
  const Graph& g = pass.graph;
  const std::vector<bool> scores = open_ended_scores(g);
  std::string names;
  for (size_t n = 0; n < scores.size(); ++n)
    if (scores[n]) names += (names.empty() ? "" : ", ") + describe(g, g.nodes[n]);
  if (!names.empty())
    pass.diagnostics.add({Severity::note, g.name,
                          fmt::format("a score without an upper end is computed in float, so that "
                                      "no later data reaches above its range: {}",
                                      names),
                          "", "", "quantize.score",
                          "--strict, or --io int8, gives it a range from the samples instead"});
}

static void note_front_ends(PassContext& pass, const QuantizationChoice& choice) {
  if (!choice.front_ends) return;
  const Graph& g = choice.equalized;
  const std::vector<bool> leads = front_ends(g);
  const auto last = std::find(leads.rbegin(), leads.rend(), true);
  const Node& end = g.nodes[static_cast<size_t>(leads.rend() - last) - 1];
  pass.diagnostics.add(
      {Severity::note, g.name,
       fmt::format("what leads to a logarithm or an integer is computed in float, up to {}: steps "
                   "are too coarse there, {:.1f} dB held out against {:.1f} dB",
                   describe(g, end), choice.front_ends->before, choice.front_ends->after),
       "", "", "quantize.front_end",
       "--strict, or --io int8, keeps it in int8; or compute the features in front of the model"});
}

void quantize_post_training(PassContext& pass) {
  pass.result.reference = pass.result.equalized = pass.graph;
  QuantizationDecisions& decisions = pass.result.quantization;
  decisions.model_was_quantized = is_quantized(pass.graph);
  if (decisions.model_was_quantized) {
    refuse_precision_of_quantized(pass);
    if (pass.diagnostics.has_errors()) return;
    if (pass.target.options.is_for_stock() && pass.graph.numerics == Numerics::tflite &&
        has_int16_steps(pass.graph))
      return pass.diagnostics.error(
          pass.graph.name, "has int16 activations (16x8), for which stock firmware has no kernels",
          "precision.int16",
          "compile for our runtime (--dialect deuteron), or convert the model with int8 "
          "activations");
    quantize_recurrent_layers(pass.graph, pass.samples, pass.options.threads, pass.diagnostics);
    return;
  }
  if (pass.samples.empty()) {
    pass.diagnostics.error(
        pass.graph.name, "a float model needs calibration data", "calibrate.none",
        "give --calibrate FILE for each input (.npy, .npz, .bin, images, or a folder of them)");
    return;
  }
  check_precision(pass);
  if (pass.diagnostics.has_errors()) return;
  const QuantizeOptions options = quantize_options(pass);
  if (options.may_use_float) note_scores(pass);
  std::optional<MixedPrecision> mixed;
  if (pass.options.precision == NetworkPrecision::mixed) mixed = mixed_precision(pass);
  std::optional<WeightLimits> int4;
  if (searches_int4_layers(pass.options)) int4 = weight_limits(pass);
  std::optional<QuantizationChoice> choice =
      calibrate_and_quantize(pass.graph, pass.samples, options, pass.options.threads,
                             pass.diagnostics, mixed ? &*mixed : nullptr, int4 ? &*int4 : nullptr);
  if (!choice) return;
  note_front_ends(pass, *choice);
  measure_cells(pass.result.reference, pass.samples, pass.options.threads, pass.graph);
  pass.result.equalized = std::move(choice->equalized);
  decisions.in_float = std::move(choice->in_float);
  decisions.values = std::move(choice->values);
  decisions.policy = std::move(choice->policy);
  decisions.left_out = std::move(choice->left_out);
  decisions.held_out = choice->held_out;
  decisions.gain_db = choice->gain_db;
  decisions.precision = std::move(choice->precision);
  decisions.weights = std::move(choice->weights);
}

}  // namespace deuteron
