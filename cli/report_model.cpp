// SPDX-License-Identifier: Apache-2.0
// The report of `compile` and `analyze`: accuracy is measured here, once the program is safely
// written.
#include "cli/report_model.h"

#include <algorithm>
#include <cmath>

#include "base/printable.h"
#include "cli/compare_operators.h"
#include "compile/schedule/memories.h"
#include "explain/inspect/page.h"
#include "explain/report/explain.h"
#include "explain/report/operators_served.h"
#include "explain/report/program_map.h"
#include "explain/report/report.h"
#include "ir/text.h"

namespace deuteron {
namespace {

constexpr size_t kPageSamples = 32;  // of accuracy by operator

// Where a pass that keeps the float model was left out there is none to compare with.
bool can_measure(const CompiledModel& m) {
  return !m.samples.empty() && !m.compilation.reference.outputs.empty() &&
         !m.compilation.stream.flows_out && !program_to_run(m.compilation).empty();
}

// What each operator's value has lost, on the first samples. Values inside the NPU's calls take a
// program that gives them out; the vendor's microcode gives none here.
std::vector<LayerError> errors_by_operator(const ModelOptions& o, const CompiledModel& m) {
  const Compilation& c = m.compilation;
  if (!calls_npu(c.graph)) {
    const size_t count = std::min(m.samples.size(), kPageSamples);
    return compare_layers(c, {m.samples.begin(), m.samples.begin() + static_cast<i64>(count)},
                          o.compile.threads);
  }
  Diagnostics silent;
  if (!o.compile.npu.converter.path.empty()) return {};
  const std::optional<ProgramFile> file =
      ProgramFile::read(o.model, std::as_bytes(std::span(c.pte)), silent);
  std::optional<std::vector<InputSeries>> inputs;
  if (file) inputs = read_inputs(o.calibrate, file->inputs(), {"--calibrate", o.image}, silent);
  if (!inputs) return {};
  for (InputSeries& series : *inputs) {
    series.count = std::min(series.count, static_cast<i64>(kPageSamples));
    series.bytes.resize(static_cast<size_t>(series.count * series.sample_bytes()));
  }
  return compare_operators(*file, o, m, *inputs, silent).value_or(std::vector<LayerError>());
}

Json accuracy_by_operator(const ModelOptions& o, const CompiledModel& m) {
  Json rows = Json::array();
  if (m.made_up_samples || !can_measure(m)) return rows;
  const OperatorsServed user(m.compilation);
  for (const LayerError& e : errors_by_operator(o, m))
    rows.push_back({{"name", e.name},
                    {"operators", user.own(e.origin)},
                    {"sqnr_db", std::isfinite(e.sqnr_db) ? Json(e.sqnr_db) : Json()},
                    {"max_abs_error", e.max_abs},
                    {"clipped", e.clipped}});
  return rows;
}

}  // namespace

ModelReport report_model(const ModelOptions& o, const CompiledModel& m,
                         const std::string& written_to, Diagnostics& diagnostics) {
  ReportFacts facts{o.model, &m.target, std::nullopt, 0, verbosity() == Verbosity::verbose};
  if (can_measure(m))
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
  if (!o.html.empty()) report.summary += "wrote " + o.html + "\n";
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
  facts["accuracy"] = accuracy_by_operator(o, m);
  return write_page(o.html,
                    report_page(program_map(m.compilation, m.program, m.target, o.model), facts),
                    diagnostics);
}

}  // namespace deuteron
