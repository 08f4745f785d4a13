// SPDX-License-Identifier: Apache-2.0
// The NPU computes some operators in several int8 steps: a layer norm, SiLU. It pools an image in steps of the image's scale, and its
// logarithm of zero is that of the smallest float. Where such a form costs accuracy that can be measured, the operator keeps the form that
// it has without an NPU: one kernel or table on the CPU, a mean with a scale of its own. `--prefer npu` asks for the NPU's forms everywhere.
#include "passes/choose_forms.h"

#include <algorithm>

#include "ops/families.h"
#include "ops/unary/functions.h"
#include "passes/npu_forms.h"
#include "passes/npu_support.h"
#include "passes/options.h"
#include "passes/pass.h"
#include "passes/trial.h"
#include "quantize/quantization_search.h"
#include "targets/target.h"

namespace deuteron {

std::string form_name(const Op& op) {
  if (const auto* unary = std::get_if<Unary>(&op)) return std::string(row_of(unary->fn).name);
  return std::string(name_of(op));
}

bool keeps_exact_form(const RuleContext& context, const Op& op) {
  return context.decided && std::ranges::count(context.decided->forms.exact, form_name(op)) > 0;
}

namespace {

constexpr double kWorthIt = 0.75;  // dB that the NPU's forms may cost: less is what a search gains or loses by chance
constexpr double kOfOne = 0.25;    // dB that the form of one operator may cost, where those of all cost more

// Of the graph in which every operator has its exact form: what the NPU would compute in another one.
bool has_form_of_npu(const PassContext& pass, const Graph& g, const Node& node) {
  if (has_form(node.op, FormKind::parts)) return true;
  const bool taken = npu_takes(g, node, pass.target, pass.options.npu);
  if (const auto* unary = std::get_if<Unary>(&node.op); unary && unary->fn == UnaryFn::log) return taken;
  if (taken || !has_program(node.op) || bounds_of(node.op)) return false;
  const std::optional<PointProgram> program = in_builtins(node.op);
  return program && are_taken(*program, g.type(node.inputs[0]), pass.target.npu->limits);
}

class FormChooser {
 public:
  explicit FormChooser(PassContext& pass) : pass_(pass) {}

  void run() {
    names_ = candidates();
    if (names_.empty()) return;
    FormDecision decision{names_, value_with({}), value_with(names_)};
    if (!decision.npu_db || !decision.exact_db || *decision.exact_db < *decision.npu_db + kWorthIt) return;
    for (const std::string& name : names_) {
      if (decision.exact.size() == 1) break;
      std::vector<std::string> fewer = decision.exact;
      std::erase(fewer, name);
      const std::optional<double> value = value_with(fewer);
      if (value && *value >= *decision.exact_db - kOfOne) decision.exact = std::move(fewer);
    }
    decision.exact_db = value_with(decision.exact);
    pass_.result.forms = std::move(decision);
  }

 private:
  // The float graph that would be quantized.
  std::optional<Graph> with(const std::vector<std::string>& exact) {
    Trial trial(pass_, pass_.graph);
    trial.result.forms.exact = exact;
    if (!trial.run("fold-constants", "npu-forms")) return std::nullopt;
    return std::move(trial.graph);
  }

  std::vector<std::string> candidates() {
    std::vector<std::string> all{"avg_pool2d", "log"};
    for (const Node& node : pass_.graph.nodes)
      if (std::ranges::count(all, form_name(node.op)) == 0) all.push_back(form_name(node.op));
    for (const UnaryFunction& f : unary_functions()) all.emplace_back(f.name);
    all.emplace_back("pointwise");
    const std::optional<Graph> graph = with(all), as_npu = with({});
    std::vector<std::string> found;
    if (!graph || !as_npu) return found;
    for (const Node& node : graph->nodes)
      if (has_form_of_npu(pass_, *graph, node) && std::ranges::count(found, form_name(node.op)) == 0) found.push_back(form_name(node.op));
    const auto pools = [](const Graph& g) {
      return std::ranges::count_if(g.nodes, [](const Node& n) { return std::holds_alternative<AvgPool2d>(n.op); });
    };
    if (pools(*as_npu) > pools(*graph)) found.emplace_back("avg_pool2d");
    return found;
  }

  std::optional<double> value_with(const std::vector<std::string>& exact) {
    const std::optional<Graph> graph = with(exact);
    if (!graph) return std::nullopt;
    QuantizeOptions options = pass_.options.quantize;
    options.runs_on_npu = [&](const Graph& g, const Node& node) {
      return std::ranges::count(exact, form_name(node.op)) == 0 && npu_takes(g, node, pass_.target, pass_.options.npu);
    };
    return plain_value(*graph, pass_.samples, options, pass_.options.threads);
  }

  PassContext& pass_;
  std::vector<std::string> names_;
};

}  // namespace

void choose_forms(PassContext& pass) {
  const bool has_choice = pass.target.npu && pass.target.has_backend("cortex_m") && !pass.target.options.is_for_stock();
  if (!has_choice || pass.options.npu.prefer == "npu" || is_quantized(pass.graph) || pass.samples.size() < 2) return;
  FormChooser(pass).run();
}

}  // namespace deuteron
