// SPDX-License-Identifier: Apache-2.0
#include "cli/operator_fates.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/compile_model.h"
#include "compile/calibrate/each_sample.h"
#include "compile/compilation.h"
#include "compile/compile.h"
#include "explain/report/program_report.h"
#include "frontends/pt2/examples/examples.h"
#include "ops/families.h"
#include "targets/target.h"

namespace deuteron {
namespace {

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

std::string name_of_computing(DType dtype) {
  switch (dtype) {
    case DType::s8:
      return "int8";
    case DType::f32:
      return "float";
    case DType::s32:
      return "int32";
    case DType::s64:
      return "int64";
    case DType::b8:
      return "bool";
    default:
      return std::string(name_of(dtype));
  }
}

// The ranges are of no interest, so nothing is searched for.
CompileOptions quick_options(const Target& target) {
  CompileOptions options;
  follow_recipe(target, options);
  options.npu.prefer = "npu";  // whatever an operator of this size costs
  options.quantize.observer = Observer::min_max;
  options.quantize.equalize = options.quantize.correct_bias =
      options.quantize.choose_bias_correction = false;
  options.threads = 1;
  return options;
}

// The edges, where floats of the model's inputs become int8 and back, are not the operator's.
bool is_edge(const std::string& kernel) {
  return kernel == "cortex_m::quantize_per_tensor" || kernel == "cortex_m::dequantize_per_tensor";
}

void tell_kernels(const Compilation& c, const ProgramReport& report, i32 source, bool is_quantizer,
                  bool has_npu, OperatorFate& fate) {
  std::vector<const Node*> calls;
  for (const Node& node : c.graph.nodes)
    if (call_of(node.op)) calls.push_back(&node);
  std::vector<std::string> reasons;
  bool all_on_npu = true;
  for (const OperatorReport& o : report.operators) {
    if (!std::binary_search(o.origin.begin(), o.origin.end(), source) ||
        (is_edge(o.op) && !is_quantizer))
      continue;
    const bool on_npu = o.placement == Placement::npu;
    const Node& node = *calls[o.instruction];
    add_once(fate.kernels, o.op);
    add_once(fate.types, on_npu || node.outputs.empty()
                             ? "int8"
                             : name_of_computing(c.graph.type(node.outputs[0]).dtype));
    all_on_npu = all_on_npu && on_npu;
    if (!on_npu && (has_npu || o.placement == Placement::portable)) add_once(reasons, o.reason);
  }
  fate.is_on_npu = all_on_npu && !fate.kernels.empty();
  for (const std::string& reason : reasons) fate.why += (fate.why.empty() ? "" : "; ") + reason;
  for (const FoldedReport& f : report.folded)
    if (fate.kernels.empty() && f.source == source) fate.why = f.reason;
  if (fate.kernels.empty() && fate.why.empty())
    fate.why = "done by what stands before or behind it";
}

void tell_refusal(const Diagnostics& diagnostics, OperatorFate& fate) {
  fate.is_refused = true;
  for (const Diagnostic& d : diagnostics.list()) {
    if (d.severity != Severity::error) continue;
    fate.why = d.what;
    if (!d.measured.empty()) fate.why += fmt::format(": {}, limit {}", d.measured, d.limit);
    fate.why += fmt::format(" [{}]", d.rule);
    return;
  }
}

bool has_rule(const Diagnostics& diagnostics, std::string_view rule) {
  return std::ranges::any_of(diagnostics.list(),
                             [&](const Diagnostic& d) { return d.rule == rule; });
}

// Roots and logarithms have no values of numbers below 0, acosh has none below 1: then the inputs
// are others.
std::optional<Compilation> compile_somehow(const Graph& graph, const Target& target,
                                           Diagnostics& diagnostics) {
  const Samples samples = made_up_samples(float_inputs(graph));
  for (const auto& [middle, reach] : {std::pair{0.0f, 1.0f}, {0.5f, 0.45f}, {1.5f, 0.45f}}) {
    Samples moved = samples;
    for (size_t k = 0; k < graph.user_inputs().size(); ++k)
      if (graph.type(graph.inputs[k].value).dtype == DType::f32)
        for (auto& sample : moved)
          for (float& v : sample[k]) v = middle + reach * v;
    diagnostics = {};
    std::optional<Compilation> compilation =
        compile(graph, target, moved, quick_options(target), diagnostics);
    if (!has_rule(diagnostics, "calibrate.not_finite")) return compilation;
  }
  return std::nullopt;
}

OperatorFate fate_of(const pt2::TorchExample& example, const Target& target) {
  OperatorFate fate;
  fate.target = example.target, fate.form = example.form, fate.call = example.call();
  Diagnostics diagnostics;
  const std::optional<Graph> graph = import_example(example, diagnostics);
  if (!graph) return tell_refusal(diagnostics, fate), fate;
  i32 source = -1;
  for (size_t s = 0; s < graph->sources.size(); ++s)
    if (graph->sources[s].target == example.target) source = static_cast<i32>(s);
  const std::optional<Compilation> compilation = compile_somehow(*graph, target, diagnostics);
  if (!compilation || diagnostics.has_errors()) return tell_refusal(diagnostics, fate), fate;
  tell_kernels(*compilation, report_program(*compilation, target), source,
               example.target.starts_with("quantized_decomposed."), target.npu.has_value(), fate);
  return fate;
}

}  // namespace

std::vector<OperatorFate> operator_fates(const Target& target) {
  const std::vector<pt2::TorchExample>& examples = pt2::torch_examples();
  std::vector<OperatorFate> fates(examples.size());
  for_each_sample(examples.size(), 0,
                  [&](size_t k, int) { fates[k] = fate_of(examples[k], target); });
  return fates;
}

}  // namespace deuteron
