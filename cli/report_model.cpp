// SPDX-License-Identifier: Apache-2.0
// The report of `compile` and `analyze`: accuracy is measured here, once the program is safely
// written.
#include "cli/report_model.h"

#include "base/printable.h"
#include "explain/inspect/page.h"
#include "explain/report/explain.h"
#include "explain/report/program_map.h"
#include "explain/report/report.h"
#include "ir/text.h"

namespace deuteron {

ModelReport report_model(const ModelOptions& o, const CompiledModel& m,
                         const std::string& written_to, Diagnostics& diagnostics) {
  ReportFacts facts{o.model, &m.target, std::nullopt, 0, verbosity() == Verbosity::verbose};
  // not where the pass that keeps it was left out
  const bool has_reference = !m.compilation.reference.outputs.empty();
  if (!m.samples.empty() && has_reference && !m.compilation.stream.flows_out &&
      !program_to_run(m.compilation).empty())
    facts.accuracy = measure_accuracy(m.compilation, m.samples, o.compile.threads);
  if (facts.accuracy && !m.made_up_samples)
    warn_of_parts(m.compilation, facts.accuracy->outputs, m.samples, diagnostics);
  facts.seconds = seconds_of_process();
  ModelReport report{Json::parse(report_json(m.compilation, m.program, facts)),
                     report_summary(m.compilation, m.program, facts)};
  if (!o.explain.empty()) {
    report.json["explain"] = explain_json(m.compilation, m.program, o.explain);
    report.summary += explain_text(m.compilation, m.program, o.explain);
  }
  if (m.made_up_samples) report.json["made_up_samples"] = true;
  if (!written_to.empty()) {
    report.json["program"] = written_to;
    report.summary += "wrote " + written_to + "\n";
  }
  return report;
}

std::string stopped_text(const CompiledModel& m, const std::string& pass) {
  return printable(print(m.compilation.graph), Lines::kept) + "stopped after " + pass;
}

bool write_report_page(const ModelOptions& o, const CompiledModel& m, const ModelReport& report,
                       Diagnostics& diagnostics) {
  if (o.html.empty()) return true;
  Json facts = Json::object();  // the rest of the report is in the map
  for (const char* key : {"program", "macs", "ram_bytes", "ram_lower_bound_bytes", "file_bytes",
                          "sqnr_db", "worst_output", "exact", "samples", "seconds", "npu_cycles",
                          "npu_kernels_assumed", "npu_cycles_without_assumed", "npu_macs", "cycles",
                          "crossings", "transposes", "prefer", "choices"})
    if (report.json.contains(key) && !report.json[key].is_null()) facts[key] = report.json[key];
  return write_page(o.html,
                    report_page(program_map(m.compilation, m.program, m.target, o.model), facts),
                    diagnostics);
}

}  // namespace deuteron
