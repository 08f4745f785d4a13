// SPDX-License-Identifier: Apache-2.0
// deuteron analyze: what `compile` would do and what it would cost, without writing a program.
#include <nlohmann/json.hpp>

#include "cli/report_model.h"

namespace deuteron {
namespace {

int analyze(const ModelOptions& o) {
  Diagnostics diagnostics;
  if (!check_outputs(inputs_of(o), outputs_of(o), diagnostics))
    return finish("", diagnostics, {}, "");
  const std::optional<CompiledModel> m = compile_model(o, true, diagnostics);
  if (!m) return finish(o.json, diagnostics, {}, "");
  if (!has_program(*m))
    return finish(o.json, diagnostics,
                  {{"model", o.model}, {"target", m->target.name}, {"stopped_after", o.stop_after}},
                  stopped_text(*m, o.stop_after) + "\n");
  ModelReport report = report_model(o, *m, "", diagnostics);
  if (!write_report_page(o, *m, report, diagnostics)) return finish(o.json, diagnostics, {}, "");
  return finish(o.json, diagnostics, std::move(report.json), report.summary);
}

}  // namespace

void add_analyze(CommandLine& line) {
  ModelOptions* o = nullptr;
  Verb verb = add_verb<ModelOptions>(
      line, "analyze",
      "show where each operator of a model would run, and what the model would cost",
      "deuteron analyze model.pt2 --target cortex-m55", analyze, o);
  add_model_options(verb, *o);
}

}  // namespace deuteron
