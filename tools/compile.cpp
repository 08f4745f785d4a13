// deuteron compile: a model becomes a program file.
#include <nlohmann/json.hpp>

#include "emit/write_file.h"
#include "tools/compile_model.h"

namespace deuteron {
namespace {

struct CompileVerb {
  ModelOptions model;
  std::string output;
};

int compile_verb(const CompileVerb& o) {
  Diagnostics diagnostics;
  const std::optional<CompiledModel> m = compile_model(o.model, false, diagnostics);
  if (!m) return finish(o.model.json, diagnostics, {}, "");
  if (!has_program(*m))
    return finish(o.model.json, diagnostics,
                  {{"model", o.model.model}, {"target", m->target.name}, {"stopped_after", o.model.compile.stop_after}},
                  "stopped after " + o.model.compile.stop_after + "; nothing was written\n");
  if (!write_file(o.output, m->compilation.pte, diagnostics)) return finish(o.model.json, diagnostics, {}, "");
  ModelReport report = report_model(o.model, *m, o.output);
  return finish(o.model.json, diagnostics, std::move(report.json), report.summary);
}

}  // namespace

void add_compile(CLI::App& app, Action& chosen) {
  CompileVerb* o = nullptr;
  CLI::App* verb =
      add_verb<CompileVerb>(app, chosen, "compile", "make a model a program for a target",
                            "deuteron compile model.pt2 --target cortex-m55 --calibrate samples.npy -o model.pte", compile_verb, o);
  add_model_options(verb, o->model);
  verb->add_option("-o,--output", o->output, "the program to write (.pte)")->option_text("OUT")->required();
}

}  // namespace deuteron
