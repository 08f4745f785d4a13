// The report of `compile` and `analyze`: accuracy is measured here, once the program is safely written.
#include "emit/report.h"
#include "tools/compile_model.h"

namespace deuteron {

ModelReport report_model(const ModelOptions& o, const CompiledModel& m, const std::string& written_to) {
  ReportFacts facts{o.model, &m.target, std::nullopt, 0};
  const bool has_reference = !m.compilation.reference.outputs.empty();  // not where the pass that keeps it was left out
  if (!m.samples.empty() && has_reference) facts.accuracy = measure_accuracy(m.compilation, m.samples, o.compile.threads);
  facts.seconds = seconds_of_process();
  ModelReport report{Json::parse(report_json(m.compilation, facts)), report_summary(m.compilation, facts)};
  if (m.made_up_samples) report.json["made_up_samples"] = true;
  if (!written_to.empty()) {
    report.json["program"] = written_to;
    report.summary += "wrote " + written_to + "\n";
  }
  return report;
}

}  // namespace deuteron
