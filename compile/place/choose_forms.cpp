// SPDX-License-Identifier: Apache-2.0
// The NPU computes some operators in several int8 steps: a layer norm, SiLU. It pools an image in
// steps of the image's scale, its logarithm of zero is that of the smallest float, and its sigmoid
// and tanh have fixed steps (compile/precision/fixed_steps.h). Where such a form costs accuracy
// that can be measured, the operator keeps the form that it has without an NPU: one kernel or table
// on the CPU, a mean with a scale of its own. `--prefer npu` asks for the NPU's forms everywhere.
#include "compile/place/choose_forms.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "compile/options.h"
#include "compile/pass.h"
#include "compile/place/npu_forms.h"
#include "compile/place/npu_support.h"
#include "compile/precision/fixed_steps.h"
#include "compile/precision/precision.h"
#include "compile/quantize/quantization_search.h"
#include "compile/trial.h"
#include "ops/families.h"
#include "ops/unary/functions.h"
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

// dB that the NPU's forms may cost: less is what a search gains or loses by chance
constexpr double kWorthIt = 0.75;
// dB that the form of one operator may cost, where those of all cost more
constexpr double kOfOne = 0.25;
constexpr size_t kMaxTableTries = 8;  // of one table less; of more tables, several at once

// Of the graph in which every operator has its exact form: what the NPU would compute in another
// one.
bool has_form_of_npu(const PassContext& pass, const Graph& g, const Node& node) {
  if (has_form(node.op, FormKind::parts)) return true;
  const bool taken = npu_takes(g, node, pass.target, pass.options.npu);
  if (const auto* unary = std::get_if<Unary>(&node.op); unary && unary->fn == UnaryFn::log)
    return taken;
  if (taken || !has_program(node.op) || bounds_of(node.op)) return false;
  const std::optional<PointProgram> program = in_builtins(node.op);
  return program && are_taken(*program, g.type(node.inputs[0]), pass.target.npu->limits);
}

// What the second has less noise, in dB: the mean over the samples of what each gains, if it is so
// many of its own deviations that chance does not explain it, else 0. Few samples hold most of the
// noise, and a form that makes it half of all others would not show in the sum.
double gain_of_samples(const std::vector<Sums>& npu, const std::vector<Sums>& exact,
                       double deviations) {
  double sum = 0, squares = 0, count = 0;
  for (size_t s = 0; s < npu.size(); ++s) {
    if (!(npu[s].noise > 0 && exact[s].noise > 0)) continue;
    const double gain = 10 * std::log10(npu[s].noise / exact[s].noise);
    sum += gain, squares += gain * gain, ++count;
  }
  if (count < 4) return 0;
  const double mean = sum / count, variance = std::max(0.0, squares / count - mean * mean);
  return mean >= deviations * std::sqrt(variance / (count - 1)) ? mean : 0;
}

std::vector<Sums> of_part(const Score& score, size_t part) {
  std::vector<Sums> samples;
  for (const std::vector<Sums>& sample : score.parts) samples.push_back(sample[part]);
  return samples;
}
double db_of(const std::vector<Sums>& samples) {
  Sums all;
  for (const Sums& sample : samples) all.add(sample);
  return all.db();
}

// Of the outputs together, or of the part of one that gains most.
struct Gain {
  double db = 0;
  bool is_of_a_part = false;
  size_t part = 0;
};
Gain gain_of(const Score& npu, const Score& exact) {
  constexpr double kDeviations = 2, kOfManyParts = 3;
  const double all = gain_of_samples(npu.outputs, exact.outputs, kDeviations);
  Gain most{std::max(exact.value - npu.value, all)};
  if (most.db >= kWorthIt || npu.parts.empty()) return most;
  for (size_t p = 0; p < npu.parts[0].size(); ++p) {
    const double gain = gain_of_samples(of_part(npu, p), of_part(exact, p), kOfManyParts);
    if (gain > most.db) most = {gain, true, p};
  }
  return most;
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
    const Gain gain = exact ? gain_of(npu, *exact) : Gain{};
    if (gain.db < kWorthIt) return {};
    Score last = *exact;
    const size_t at_once = (tables_.size() + kMaxTableTries - 1) / kMaxTableTries;
    for (size_t from = 0; from < tables_.size(); from += at_once) {
      if (decision.tables.size() <= at_once) break;
      FormDecision fewer = decision;
      const auto tried = std::span(tables_).subspan(from, std::min(at_once, tables_.size() - from));
      for (const Origin& table : tried) std::erase(fewer.tables, table);
      std::optional<Score> score = score_with(fewer);
      if (!score || gain_of(*score, *exact).db >= kOfOne) continue;
      decision = std::move(fewer);
      last = *std::move(score);
    }
    note(decision, gain, npu, last);
    return decision;
  }

  // The exact forms of operators, by their names, where they are worth it beside these tables.
  void with_names(const Score& npu, FormDecision& decision) {
    if (names_.empty()) return;
    FormDecision all = decision;
    all.exact = names_;
    const std::optional<Score> without = decision.empty() ? npu : score_with(decision);
    const std::optional<Score> exact = score_with(all);
    const Gain gain = without && exact ? gain_of(*without, *exact) : Gain{};
    if (gain.db < kWorthIt) return;
    Score last = *exact;
    for (const std::string& name : names_) {
      if (all.exact.size() == 1) break;
      FormDecision fewer = all;
      std::erase(fewer.exact, name);
      std::optional<Score> score = score_with(fewer);
      if (!score || gain_of(*score, *exact).db >= kOfOne) continue;
      all = std::move(fewer);
      last = *std::move(score);
    }
    note(all, gain, npu, last);
    decision = std::move(all);
  }

  static void note(FormDecision& decision, const Gain& gain, const Score& npu, const Score& exact) {
    decision.of_a_part = gain.is_of_a_part;
    decision.npu_db = gain.is_of_a_part ? db_of(of_part(npu, gain.part)) : npu.value;
    decision.exact_db = gain.is_of_a_part ? db_of(of_part(exact, gain.part)) : exact.value;
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
      if (has_form_of_npu(pass_, *graph, node) &&
          std::ranges::count(found, form_name(node.op)) == 0)
        found.push_back(form_name(node.op));
    const auto pools = [](const Graph& g) {
      return std::ranges::count_if(g.nodes, [](const Node& n) {
        const OpFacts f = facts_of(n.op);
        return f.family == Family::pool && f.values == Values::computed;
      });
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
  const bool has_choice =
      pass.target.npu && pass.target.has_backend("cortex_m") && !pass.target.options.is_for_stock();
  if (!has_choice || pass.options.npu.prefer == "npu" || is_quantized(pass.graph) ||
      pass.samples.size() < 2)
    return;
  FormChooser(pass).run();
}

}  // namespace deuteron
