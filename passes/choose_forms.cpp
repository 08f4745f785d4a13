// SPDX-License-Identifier: Apache-2.0
// The NPU computes some operators in several int8 steps: a layer norm, SiLU. It pools an image in
// steps of the image's scale, its logarithm of zero is that of the smallest float, and its sigmoid
// and tanh have fixed steps (passes/fixed_steps.h). Where such a form costs accuracy that can be
// measured, the operator keeps the form that it has without an NPU: one kernel or table on the CPU,
// a mean with a scale of its own. `--prefer npu` asks for the NPU's forms everywhere.
#include "passes/choose_forms.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "ops/families.h"
#include "ops/unary/functions.h"
#include "passes/fixed_steps.h"
#include "passes/npu_forms.h"
#include "passes/npu_support.h"
#include "passes/options.h"
#include "passes/pass.h"
#include "passes/precision.h"
#include "passes/trial.h"
#include "quantize/quantization_search.h"
#include "targets/target.h"

namespace deuteron {

std::string form_name(const Op& op) {
  if (const auto* unary = std::get_if<Unary>(&op)) return std::string(row_of(unary->fn).name);
  return std::string(name_of(op));
}

bool keeps_exact_form(const RuleContext& context, const Node& node) {
  if (!context.decided) return false;
  const FormDecision& forms = context.decided->forms;
  return std::ranges::count(forms.exact, form_name(node.op)) > 0 || is_table(forms, node);
}

bool is_table(const FormDecision& forms, const Node& node) {
  const auto is_made_of = [&](const Origin& o) { return std::ranges::includes(node.origin, o); };
  return std::ranges::any_of(forms.tables, is_made_of) && has_fixed_step_on_npu(node);
}

namespace {

constexpr double kWorthIt = 0.75;  // dB that the NPU's forms may cost: less is what a search gains or loses by chance
constexpr double kOfOne = 0.25;    // dB that the form of one operator may cost, where those of all cost more
constexpr size_t kMaxTableTries = 8;  // of one table less; of more tables, several at once

// Of the graph in which every operator has its exact form: what the NPU would compute in another one.
bool has_form_of_npu(const PassContext& pass, const Graph& g, const Node& node) {
  if (has_form(node.op, FormKind::parts)) return true;
  const bool taken = npu_takes(g, node, pass.target, pass.options.npu);
  if (const auto* unary = std::get_if<Unary>(&node.op); unary && unary->fn == UnaryFn::log) return taken;
  if (taken || !has_program(node.op) || bounds_of(node.op)) return false;
  const std::optional<PointProgram> program = in_builtins(node.op);
  return program && are_taken(*program, g.type(node.inputs[0]), pass.target.npu->limits);
}

// How many dB less noise the second has in the part of an output that gains most: the mean over the
// samples of what each gains, where chance does not explain it.
struct PartGain {
  double db = 0;
  size_t part = 0;
};
PartGain largest_gain_of_a_part(const Score& npu, const Score& exact) {
  constexpr double kDeviations = 3;  // of the mean: an output may have many parts
  PartGain most;
  for (size_t p = 0; !npu.parts.empty() && p < npu.parts[0].size(); ++p) {
    double sum = 0, squares = 0, count = 0;
    for (size_t s = 0; s < npu.parts.size(); ++s) {
      const double before = npu.parts[s][p].noise, after = exact.parts[s][p].noise;
      if (!(before > 0 && after > 0)) continue;
      const double gain = 10 * std::log10(before / after);
      sum += gain, squares += gain * gain, ++count;
    }
    if (count < 2) continue;
    const double mean = sum / count, variance = std::max(0.0, squares / count - mean * mean);
    const double deviation = std::sqrt(variance / (count - 1));
    if (mean >= kDeviations * deviation && mean > most.db) most = {mean, p};
  }
  return most;
}

double db_of_part(const Score& score, size_t part) {
  Sums all;
  for (const std::vector<Sums>& sample : score.parts) all.add(sample[part]);
  return all.db();
}

class FormChooser {
 public:
  explicit FormChooser(PassContext& pass) : pass_(pass) {}

  void run() {
    names_ = candidates();
    if (names_.empty() && tables_.empty()) return;
    const std::optional<Score> npu = score_with({});
    if (!npu) return;
    FormDecision decision = with_tables(*npu);
    with_names(*npu, decision);
    if (!decision.empty()) pass_.result.forms = std::move(decision);
  }

 private:
  // Functions with fixed steps that are too coarse: tables on the CPU, as far as an output gains by
  // them.
  FormDecision with_tables(const Score& npu) {
    FormDecision decision;
    decision.tables = tables_;
    const std::optional<Score> exact = tables_.empty() ? std::nullopt : score_with(decision);
    const PartGain part = exact ? largest_gain_of_a_part(npu, *exact) : PartGain{};
    const double whole = exact ? exact->value - npu.value : 0;
    if (std::max(whole, part.db) < kWorthIt) return {};
    decision.of_a_part = whole < kWorthIt;
    Score last = *exact;
    const size_t at_once = (tables_.size() + kMaxTableTries - 1) / kMaxTableTries;
    for (size_t from = 0; from < tables_.size(); from += at_once) {
      if (decision.tables.size() <= at_once) break;
      FormDecision fewer = decision;
      const auto tried = std::span(tables_).subspan(from, std::min(at_once, tables_.size() - from));
      for (const Origin& table : tried) std::erase(fewer.tables, table);
      const std::optional<Score> score = score_with(fewer);
      if (!score || score->value < exact->value - kOfOne) continue;
      if (largest_gain_of_a_part(*score, *exact).db >= kOfOne) continue;
      decision = std::move(fewer);
      last = *score;
    }
    decision.npu_db = decision.of_a_part ? db_of_part(npu, part.part) : npu.value;
    decision.exact_db = decision.of_a_part ? db_of_part(last, part.part) : last.value;
    return decision;
  }

  // The exact forms of operators, by their names, where they are worth it beside these tables.
  void with_names(const Score& npu, FormDecision& decision) {
    if (names_.empty()) return;
    FormDecision all = decision;
    all.exact = names_;
    const std::optional<Score> without = decision.empty() ? npu : score_with(decision);
    const std::optional<Score> exact = score_with(all);
    if (!without || !exact || exact->value < without->value + kWorthIt) return;
    for (const std::string& name : names_) {
      if (all.exact.size() == 1) break;
      FormDecision fewer = all;
      std::erase(fewer.exact, name);
      const std::optional<Score> score = score_with(fewer);
      if (score && score->value >= exact->value - kOfOne) all.exact = std::move(fewer.exact);
    }
    const std::optional<Score> last = score_with(all);
    if (!last) return;
    all.of_a_part = false;
    all.npu_db = npu.value, all.exact_db = last->value;
    decision = std::move(all);
  }

  // The float graph that would be quantized.
  std::optional<Graph> with(const FormDecision& forms) {
    Trial trial(pass_, pass_.graph);
    trial.result.forms = forms;
    if (!trial.run("fold-constants", "npu-forms")) return std::nullopt;
    return std::move(trial.graph);
  }

  std::vector<std::string> candidates() {
    FormDecision exact;
    std::vector<std::string>& all = exact.exact;
    all = {"avg_pool2d", "log"};
    for (const Node& node : pass_.graph.nodes)
      if (std::ranges::count(all, form_name(node.op)) == 0) all.push_back(form_name(node.op));
    for (const UnaryFunction& f : unary_functions()) all.emplace_back(f.name);
    all.emplace_back("pointwise");
    const std::optional<Graph> graph = with(exact), as_npu = with({});
    std::vector<std::string> found;
    if (!graph || !as_npu) return found;
    for (const Node& node : graph->nodes)
      if (has_form_of_npu(pass_, *graph, node) && std::ranges::count(found, form_name(node.op)) == 0) found.push_back(form_name(node.op));
    const auto pools = [](const Graph& g) {
      return std::ranges::count_if(g.nodes, [](const Node& n) { return std::holds_alternative<AvgPool2d>(n.op); });
    };
    if (pools(*as_npu) > pools(*graph)) found.emplace_back("avg_pool2d");
    find_tables(*graph);
    return found;
  }

  void find_tables(const Graph& exact) {
    if (std::ranges::none_of(exact.nodes, has_fixed_step_on_npu)) return;
    Diagnostics silent;
    const auto seen = observe(exact, pass_.samples, pass_.options.threads, silent);
    if (!seen) return;
    for (const Node& node : exact.nodes) {
      if (!has_fixed_step_on_npu(node) || std::ranges::count(tables_, node.origin) > 0) continue;
      const Observation &x = (*seen)[node.inputs[0]], &y = (*seen)[node.outputs[0]];
      if (loss_by_fixed_steps(node, x, y) >= kWorthIt) tables_.push_back(node.origin);
    }
  }

  std::optional<Score> score_with(const FormDecision& forms) {
    Trial trial(pass_, pass_.graph);
    trial.result.forms = forms;
    if (!trial.run("fold-constants", "npu-forms")) return std::nullopt;
    PassContext context = trial.context();
    const QuantizeOptions options = quantize_options(context);
    return plain_score(trial.graph, pass_.samples, options, pass_.options.threads);
  }

  PassContext& pass_;
  std::vector<std::string> names_;
  std::vector<Origin> tables_;
};

}  // namespace

void choose_forms(PassContext& pass) {
  const bool has_choice = pass.target.npu && pass.target.has_backend("cortex_m") && !pass.target.options.is_for_stock();
  if (!has_choice || pass.options.npu.prefer == "npu" || is_quantized(pass.graph) || pass.samples.size() < 2) return;
  FormChooser(pass).run();
}

}  // namespace deuteron
