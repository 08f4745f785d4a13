// SPDX-License-Identifier: Apache-2.0
// Outputs that say nothing, and what takes the steps that they lack: columns and operands that
// share one step with much wider ones.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "explain/doctor/doctor.h"

namespace deuteron {
namespace {

constexpr double kGoodOutputDb = 30;

FindingKind kind_of(const Diagnostic& d) {
  if (d.rule == "accuracy.input_steps") return FindingKind::narrow_column;
  return d.fix == kOwnStepsAdvice ? FindingKind::weak_output : FindingKind::lost_output;
}

std::string measured_text(const Diagnostic& d) {
  return d.measured.empty() ? std::string("one number for all samples (measured)")
                            : fmt::format("{} where {} are needed (measured)", d.measured, d.limit);
}

// What `compile` warns of.
void weak_outputs(const Patient& p, std::vector<Finding>& findings) {
  Diagnostics found;
  warn_of_parts(p.compilation, p.accuracy->outputs, p.samples, found);
  for (const Diagnostic& d : found.list()) {
    Finding f = finding_of(kind_of(d), d.what, {}, -1, measured_text(d));
    f.rule = d.rule;
    if (p.target.npu || p.target.options.is_for_stock()) f.attempt.clear();  // there is no int16
    findings.push_back(std::move(f));
  }
}

// Values that share their steps with one that is so wide that they have too few.
void narrow_operands(const Patient& p, std::vector<Finding>& findings) {
  const Graph& g = p.compilation.equalized;
  std::map<i32, const QuantizedValue*> widest;
  const auto span = [](const QuantizedValue& q) { return double{q.high} - q.low; };
  for (const QuantizedValue& q : p.compilation.quantization.values)
    if (const QuantizedValue*& w = widest[q.cluster]; !w || span(q) > span(*w)) w = &q;
  for (const Node& node : g.nodes) {
    if (joined_axis(g, node) < 0) continue;
    for (const ValueId v : node.inputs) {
      const auto q = std::ranges::find(p.compilation.quantization.values, g.values[v].name,
                                       &QuantizedValue::name);
      if (q == p.compilation.quantization.values.end() || span(*q) <= 0 ||
          span(*q) >= kFewestSteps * double{q->chosen.scale})
        continue;
      const QuantizedValue& other = *widest[q->cluster];
      if (&other == &*q) continue;
      findings.push_back(finding_of(
          FindingKind::narrow_operand,
          fmt::format("`{}` goes from {:.4g} to {:.4g}, and shares its steps with `{}`, from "
                      "{:.4g} to {:.4g}",
                      q->name, q->low, q->high, other.name, other.low, other.high),
          {place_of(g, node.origin)}, -1,
          fmt::format("{:.1f} of its steps are left, limit {:.0f} (ranges on the samples)",
                      span(*q) / double{q->chosen.scale}, kFewestSteps)));
    }
  }
}

}  // namespace

void examine_answers(const Patient& p, std::vector<Finding>& findings) {
  if (p.made_up_samples || !p.accuracy || p.accuracy->is_exact()) return;
  weak_outputs(p, findings);
  const auto worst = worst_part(p.accuracy->outputs);
  if ((worst ? worst->output->db(worst->part) : p.accuracy->sqnr_db) < kGoodOutputDb)
    narrow_operands(p, findings);
}

std::optional<Finding> finding_of_warning(const Diagnostic& d) {
  if (d.rule != "calibrate.spike") return std::nullopt;
  Finding f = finding_of(FindingKind::spike, d.what, {}, -1,
                         fmt::format("{}, limit {}", d.measured, d.limit));
  f.rule = d.rule;
  return f;
}

}  // namespace deuteron
