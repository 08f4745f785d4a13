// deuteron compare: how far the program's outputs are from the float model's.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/float_model.h"
#include "tools/options.h"
#include "tools/program_file.h"

namespace deuteron {
namespace {

struct CompareOptions {
  std::string model, program, json;
  std::vector<std::string> inputs;
  int threads = 0;
  ImageMap image;
};

int compare(const CompareOptions& o) {
  Diagnostics diagnostics;
  Json json = {{"model", o.model}, {"program", o.program}, {"outputs", Json::array()}};
  const auto fail = [&] { return finish(o.json, diagnostics, json, ""); };
  const std::optional<ProgramFile> file = ProgramFile::open(o.program, diagnostics);
  if (!file) return fail();
  const std::optional<std::vector<InputSeries>> inputs = read_inputs(o.inputs, file->inputs(), {"--inputs", o.image}, diagnostics);
  if (!inputs) return fail();
  const i64 samples = inputs->empty() ? 1 : (*inputs)[0].count;
  const std::optional<FloatOutputs> model = run_float_model(o.model, *inputs, samples, o.threads, diagnostics);
  if (!model) return fail();
  double seconds = 0;
  Needs needs;
  const auto outputs = run_on_host(*file, *inputs, samples, &seconds, &needs, diagnostics);
  if (!outputs) return fail();
  if (model->outputs.size() != outputs->size()) {
    diagnostics.add({Severity::error, o.model, "the model has another number of outputs than the program",
                     std::to_string(model->outputs.size()), std::to_string(outputs->size()), "model.outputs",
                     "give the model that the program was compiled from"});
    return fail();
  }

  std::string summary = fmt::format("{} against {}: {}\n", o.program, o.model, counted(samples, "sample"));
  for (size_t k = 0; k < outputs->size(); ++k) {
    const PteTensor& t = file->summary.outputs[k];
    if (t.type != ScalarType::f32 || t.sizes != model->shapes[k]) {
      diagnostics.add({Severity::error, o.program, fmt::format("output {} cannot be compared with the model's", k),
                       to_text(t.type, t.sizes, {}), fmt::format("f32[{}]", to_text(model->shapes[k])), "model.outputs",
                       "compile the model with `--io float` for this comparison"});
      return fail();
    }
    const Difference d = difference(model->outputs[k], as_floats(t.type, (*outputs)[k]), numel(t.sizes));
    json["outputs"].push_back({{"index", k},
                               {"name", model->names[k]},
                               {"sqnr_db", std::isfinite(d.sqnr_db) ? Json(d.sqnr_db) : Json()},
                               {"max_abs_error", d.max_abs},
                               {"worst_sample", d.sample},
                               {"worst_index", d.index}});
    summary += fmt::format("output{} `{}`: SQNR {:.2f} dB, largest difference {:.6g} (sample {}, index {})\n", k, model->names[k],
                           d.sqnr_db, d.max_abs, d.sample, d.index);
  }
  json["samples"] = samples;
  json["seconds"] = seconds_of_process();
  return finish(o.json, diagnostics, std::move(json), summary);
}

}  // namespace

void add_compare(CLI::App& app, Action& chosen) {
  CompareOptions* o = nullptr;
  CLI::App* verb = add_verb<CompareOptions>(app, chosen, "compare", "compare a program's outputs with the float model's",
                                            "deuteron compare float.pt2 model.pte --inputs samples.npy", compare, o);
  verb->add_option("model", o->model, "the float model (.pt2)")->option_text("M")->required();
  verb->add_option("program", o->program, "the program (.pte)")->option_text("P")->required();
  add_files(verb, "--inputs", o->inputs, "data of one input, once for each input in order; a .npz stands for all");
  verb->add_option("--threads", o->threads, "threads for the float model; default: as many as the machine has")
      ->option_text("N")
      ->check(CLI::Range(1, 1024));
  add_image_options(verb, o->image);
  add_json(verb, o->json);
}

}  // namespace deuteron
