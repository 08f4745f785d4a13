// SPDX-License-Identifier: Apache-2.0
// deuteron compare: how far the program is from the float model, at its outputs and at every
// operator on the way. A program file has no names and no scales. Compiling is deterministic, so
// the model is compiled once more: when that gives the very bytes of the file, all that the
// compiler knows is known of the file too.
#include <fmt/format.h>
#include <array>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/compare_operators.h"
#include "cli/compile_model.h"
#include "cli/float_model.h"
#include "cli/options.h"
#include "cli/output_paths.h"
#include "cli/program_file.h"
#include "cli/run_on_board.h"
#include "cli/trust.h"

namespace deuteron {
namespace {

struct CompareOptions {
  std::string model, program, json, verify_key;
  std::vector<std::string> inputs, calibrate;
  int threads = 0;
  double timeout = 0;
  ImageMap image;
  Where where;
  ModelOptions given;  // that the program was compiled with
};

// A table of every operator, those that lost most first. nullopt, with a diagnostic: a fault.
std::optional<std::string> table_of_operators(const CompareOptions& o, const ProgramFile& file,
                                              std::span<const InputSeries> inputs, Json& json,
                                              Diagnostics& diagnostics) {
  ModelOptions given = o.given;
  given.model = o.model;
  given.calibrate = o.calibrate.empty() ? o.inputs : o.calibrate;
  given.image = o.image;
  given.compile.threads = o.threads;
  std::optional<CompiledModel> model;
  const std::optional<ModelOptions> options = options_of(file, given, &model);
  if (!options) {
    const std::string why = fmt::format(
        "not compared: compiling {} with {} gives another program; give --calibrate the data that "
        "{} was compiled with, and its options",
        o.model, o.calibrate.empty() ? "these inputs" : "this data", o.program);
    json["why_no_operators"] = why;
    return "operators: " + why + "\n";
  }
  json["target"] = model->target.name;
  std::optional<std::vector<LayerError>> compared =
      compare_operators(file, *options, *model, inputs, diagnostics);
  if (!compared) return std::nullopt;
  std::vector<LayerError>& layers = *compared;
  std::ranges::stable_sort(layers, {}, &LayerError::sqnr_db);
  json["operators"] = Json::array();
  std::string text = fmt::format("{:>9} {:>12} {:>9} {:>7}  {}\n", "SQNR dB", "largest", "clipped",
                                 "range", "operator");
  for (const LayerError& l : layers) {
    json["operators"].push_back({{"name", l.name},
                                 {"op", l.op},
                                 {"sqnr_db", std::isfinite(l.sqnr_db) ? Json(l.sqnr_db) : Json()},
                                 {"max_abs_error", l.max_abs},
                                 {"clipped", l.clipped},
                                 {"range_used", l.used},
                                 {"low", l.low},
                                 {"high", l.high}});
    text += fmt::format("{:9.2f} {:12.5g} {:7.2f} % {:5.0f} %  {} ({})\n", l.sqnr_db, l.max_abs,
                        100 * l.clipped, 100 * l.used, l.name, l.op);
  }
  return text;
}

// The line of output k, which goes into the JSON too.
std::string tell_difference(size_t k, const std::string& name, const Difference& d, Json& json) {
  json["outputs"].push_back({{"index", k},
                             {"name", name},
                             {"sqnr_db", std::isfinite(d.sqnr_db) ? Json(d.sqnr_db) : Json()},
                             {"max_abs_error", d.max_abs},
                             {"worst_sample", d.sample},
                             {"worst_index", d.index}});
  return fmt::format(
      "output{} `{}`: SQNR {:.2f} dB, largest difference {:.6g} (sample {}, index {})\n", k, name,
      d.sqnr_db, d.max_abs, d.sample, d.index);
}

// The program has as many outputs as the model.
bool have_same_outputs(const CompareOptions& o, size_t model, size_t program,
                       Diagnostics& diagnostics) {
  if (model == program) return true;
  diagnostics.add({Severity::error, o.model,
                   "the model has another number of outputs than the program",
                   std::to_string(model), std::to_string(program), "model.outputs",
                   "give the model that the program was compiled from"});
  return false;
}

int compare(const CompareOptions& o) {
  if (const std::string problem = check_where(o.where); !problem.empty())
    return refuse_usage(problem);
  Diagnostics diagnostics;
  std::vector<NamedPath> read = {
      {"the program", o.program}, {"the model", o.model}, {"--verify-key", o.verify_key}};
  add_paths(read, "--inputs", o.inputs);
  add_paths(read, "--calibrate", o.calibrate);
  if (!check_outputs(read, std::array{NamedPath{"--json", o.json}}, diagnostics))
    return finish("", diagnostics, {}, "");
  Json json = {{"model", o.model}, {"program", o.program}, {"outputs", Json::array()}};
  if (!o.where.is_host()) json["on"] = o.where.on;
  const auto fail = [&] { return finish(o.json, diagnostics, json, ""); };
  const std::optional<ProgramFile> file = ProgramFile::open(o.program, diagnostics, o.verify_key);
  if (!file || !file->runs_off_chip(diagnostics)) return fail();
  const std::optional<std::vector<InputSeries>> inputs =
      read_inputs(o.inputs, file->inputs(), {"--inputs", o.image}, diagnostics);
  if (!inputs) return fail();
  const i64 samples = inputs->empty() ? 1 : (*inputs)[0].count;
  const std::optional<FloatOutputs> model =
      run_float_model(o.model, o.given.input_shapes, o.given.part, o.given.states,
                      file->as_numbers(*inputs), samples, o.threads, diagnostics);
  if (!model) return fail();
  RunSeconds seconds;
  const auto outputs = run_anywhere(*file, o.where, o.timeout, *inputs, samples, &seconds, false,
                                    o.json, diagnostics);
  if (!outputs || !have_same_outputs(o, model->outputs.size(), outputs->size(), diagnostics))
    return fail();

  std::string summary =
      fmt::format("{} against {}: {}\n", o.program, o.model, counted(samples, "sample"));
  for (size_t k = 0; k < outputs->size(); ++k) {
    const PteTensor& t = file->summary.outputs[k];
    const bool is_number = !t.steps.empty() || t.type == ScalarType::f32 ||
                           t.type == ScalarType::s32 || t.type == ScalarType::s64 ||
                           t.type == ScalarType::b8;
    if (!is_number || t.sizes != model->shapes[k]) {
      diagnostics.add({Severity::error, o.program,
                       fmt::format("output {} cannot be compared with the model's", k),
                       to_text(t.type, t.sizes, {}),
                       fmt::format("f32[{}]", to_text(model->shapes[k])), "model.outputs",
                       "compile the model with `--io float` for this comparison"});
      return fail();
    }
    const Difference d = difference(model->outputs[k], as_floats(t, (*outputs)[k]), numel(t.sizes));
    summary += tell_difference(k, model->names[k], d, json);
  }
  json["samples"] = samples;
  const std::optional<std::string> table = table_of_operators(o, *file, *inputs, json, diagnostics);
  if (!table) return fail();
  summary += *table;
  json["seconds"] = seconds_of_process();
  return finish(o.json, diagnostics, std::move(json), summary);
}

}  // namespace

void add_compare(CommandLine& line) {
  CompareOptions* o = nullptr;
  Verb verb = add_verb<CompareOptions>(
      line, "compare", "compare a program with its float model, operator by operator",
      "deuteron compare float.pt2 model.pte --inputs samples.npy", compare, o);
  verb.option("model", o->model, "the float model (.pt2, .tflite or .onnx)").value("M").required();
  add_input_shape(verb, o->given.input_shapes);
  add_part(verb, o->given.part);
  add_state(verb, o->given.states);
  verb.option("program", o->program, "the program (.pte)").value("P").required();
  add_verify_key(verb, o->verify_key);
  add_files(verb, "--input,--inputs", o->inputs,
            "input data: an array, images or a folder of either; once for each input, in order, or "
            "one .npz for all inputs");
  add_files(verb, "--calibrate", o->calibrate,
            "the data that the program was calibrated with, if other than --inputs");
  verb.option("--target", o->given.target,
              "the target that the program was compiled for; default: any that has its kernels")
      .value("T");
  add_accuracy_options(verb, o->given);
  add_npu_options(verb, o->given);
  add_where(verb, o->where);
  add_timeout(verb, o->timeout);
  verb.option("--threads", o->threads,
              "threads for the float model; default: one for each processor")
      .value("N")
      .between(1, 1024);
  add_image_options(verb, o->image);
  add_json(verb, o->json);
}

}  // namespace deuteron
