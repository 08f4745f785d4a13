// SPDX-License-Identifier: Apache-2.0
// deuteron evaluate: how often the program is right, and the float model beside it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/data/labels.h"
#include "cli/float_model.h"
#include "cli/options.h"
#include "cli/output_paths.h"
#include "cli/program_file.h"
#include "cli/run_on_board.h"
#include "cli/trust.h"
#include "explain/report/output_accuracy.h"

namespace deuteron {
namespace {

struct EvaluateOptions {
  std::string program, labels, model, json, verify_key;
  std::vector<std::string> inputs, input_shapes, states;
  ModelPart part;
  int threads = 0;
  double timeout = 0;
  bool is_stream = false;
  Where where;
  ImageMap image;
};

// The first of the largest elements of each sample.
std::vector<i64> best_classes(std::span<const float> output, i64 classes) {
  std::vector<i64> best;
  for (size_t at = 0; at + static_cast<size_t>(classes) <= output.size();
       at += static_cast<size_t>(classes)) {
    const auto sample = output.subspan(at, static_cast<size_t>(classes));
    best.push_back(std::max_element(sample.begin(), sample.end()) - sample.begin());
  }
  return best;
}
i64 equal_count(std::span<const i64> a, std::span<const i64> b) {
  i64 n = 0;
  for (size_t i = 0; i < a.size(); ++i) n += a[i] == b[i];
  return n;
}
double share(i64 n, i64 of) {
  return of > 0 ? 100.0 * static_cast<double>(n) / static_cast<double>(of) : 0;
}

// Of each output that both have as numbers or as integers; int8 outputs without a scale are
// neither.
std::vector<OutputAccuracy> accuracy_of_outputs(const FloatOutputs& model, const ProgramFile& file,
                                                const std::vector<std::vector<std::byte>>& found,
                                                i64 samples) {
  std::vector<OutputAccuracy> outputs;
  for (size_t o = 0; o < std::min(found.size(), model.outputs.size()); ++o) {
    const Port& port = model.graph.outputs[o];
    const bool is_number = model.graph.type(port.value).dtype == DType::f32;
    const std::vector<float> values = as_floats(file.summary.outputs[o], found[o]);
    const PteTensor& output = file.summary.outputs[o];
    if (is_number != (output.type == ScalarType::f32 || !output.steps.empty()) ||
        values.size() != model.outputs[o].size())
      continue;
    Axes order(model.shapes[o].size());  // both are in the user's
    std::iota(order.begin(), order.end(), 0);
    OutputError error(model.shapes[o], order);
    const size_t each = values.size() / static_cast<size_t>(std::max<i64>(samples, 1));
    for (size_t s = 0; s < static_cast<size_t>(samples); ++s)
      error.see(std::span(model.outputs[o]).subspan(s * each, each),
                std::span(values).subspan(s * each, each));
    outputs.push_back(output_accuracy(model.graph, port, error));
  }
  return outputs;
}

void add_accuracy(const FloatOutputs& model, const ProgramFile& file,
                  const std::vector<std::vector<std::byte>>& found, i64 samples, Json& json,
                  std::string& summary) {
  const std::vector<OutputAccuracy> outputs = accuracy_of_outputs(model, file, found, samples);
  if (outputs.empty()) return;
  PartError all;
  for (const OutputAccuracy& o : outputs)
    if (!o.is_integer) all.add(o.whole);
  const auto worst = worst_part(outputs);
  json["worst_output"] = worst_part_json(outputs);
  if (worst) summary += fmt::format("worst output   {}: {}\n", name_of(*worst), text_of(*worst));
  if (all.count > 0) {
    json["sqnr_db"] = std::isfinite(all.db()) ? Json(all.db()) : Json();
    json["max_abs_error"] = all.largest;
    summary += fmt::format("SQNR           {:6.2f} dB{}, largest difference {:.6g}\n", all.db(),
                           worst ? " all together" : "", all.largest);
  }
  if (const std::string integers = text_of_integers(outputs); !integers.empty())
    summary += fmt::format("integers       {}\n", integers);
  json["output_accuracy"] = output_accuracy_json(outputs);
}

void tell_top1(const char* who, const char* key, const std::vector<i64>& best,
               const std::vector<i64>& labels, i64 samples, Json& json, std::string& summary) {
  const i64 right = equal_count(best, labels);
  json[std::string(key) + "_top1"] = share(right, samples) / 100;
  json[std::string(key) + "_right"] = right;
  summary += fmt::format("top-1 {:<8} {:6.2f} %  ({} of {})\n", who, share(right, samples), right,
                         samples);
}

// The elements of the first output. 0, with a diagnostic: there is nothing to evaluate.
i64 classes_of(const ProgramFile& file, Diagnostics& diagnostics) {
  const auto& outputs = file.summary.outputs;
  const i64 classes = outputs.empty() ? 0 : numel(outputs[0].sizes);
  if (classes == 0)
    diagnostics.error(file.path,
                      outputs.empty() ? "the program has no outputs to evaluate"
                                      : "the program's first output has no elements",
                      "evaluate.outputs");
  return classes;
}

// Has the model's first output as many elements as the program's?
bool has_output_of(const FloatOutputs& model, size_t elements, const std::string& path,
                   Diagnostics& diagnostics) {
  const size_t found = model.outputs.empty() ? 0 : model.outputs[0].size();
  if (!model.outputs.empty() && found == elements) return true;
  diagnostics.add({Severity::error, path,
                   "the model's first output has another size than the program's",
                   std::to_string(found), std::to_string(elements), "model.outputs",
                   "give the model that the program was compiled from"});
  return false;
}

int evaluate(const EvaluateOptions& o) {
  if (o.labels.empty() && o.model.empty()) return refuse_usage("--labels or --model is required");
  if (const std::string problem = check_where(o.where); !problem.empty())
    return refuse_usage(problem);
  Diagnostics diagnostics;
  std::vector<NamedPath> read = {
      {"the program", o.program}, {"the model", o.model}, {"--labels", o.labels}};
  add_paths(read, "--inputs", o.inputs);
  read.push_back({"--verify-key", o.verify_key});
  if (!check_outputs(read, std::array{NamedPath{"--json", o.json}}, diagnostics))
    return finish("", diagnostics, {}, "");
  Json json = {{"program", o.program}};
  if (!o.where.is_host()) json["on"] = o.where.on;
  const auto fail = [&] { return finish(o.json, diagnostics, json, ""); };
  const std::optional<ProgramFile> file = ProgramFile::open(o.program, diagnostics, o.verify_key);
  if (!file || !file->runs_off_chip(diagnostics)) return fail();
  const i64 classes = classes_of(*file, diagnostics);
  if (classes == 0) return fail();
  std::optional<std::vector<InputSeries>> inputs =
      read_inputs(o.inputs, file->inputs(), {"--inputs", o.image}, diagnostics);
  if (!inputs) return fail();
  const i64 samples = inputs->empty() ? 1 : (*inputs)[0].count;
  std::optional<std::vector<i64>> labels;
  if (!o.labels.empty() && !(labels = read_labels(o.labels, samples, classes, diagnostics)))
    return fail();

  RunSeconds seconds;
  const auto outputs = run_anywhere(*file, o.where, o.timeout, *inputs, samples, &seconds,
                                    !o.is_stream, o.json, diagnostics);
  if (!outputs) return fail();
  const std::vector<float> first = as_floats(file->summary.outputs[0], (*outputs)[0]);
  const std::vector<i64> program_best = best_classes(first, classes);
  json["samples"] = samples;
  std::string summary = fmt::format("{}: {}\n", o.program, counted(samples, "sample"));
  if (labels) tell_top1("program", "program", program_best, *labels, samples, json, summary);
  if (!o.model.empty()) {
    inputs = file->as_numbers(std::move(*inputs));
    const std::optional<FloatOutputs> model =
        run_float_model(o.model, o.input_shapes, o.part, o.states, *inputs, samples, o.threads,
                        diagnostics, o.is_stream ? Sequence::one : Sequence::each_new);
    if (!model || !has_output_of(*model, first.size(), o.model, diagnostics)) return fail();
    const std::vector<i64> model_best = best_classes(model->outputs[0], classes);
    if (labels) tell_top1("float", "model", model_best, *labels, samples, json, summary);
    const i64 same = equal_count(program_best, model_best);
    json["model"] = o.model;
    json["agreement"] = share(same, samples) / 100;
    summary +=
        fmt::format("same class     {:6.2f} %  ({} of {})\n", share(same, samples), same, samples);
    add_accuracy(*model, *file, *outputs, samples, json, summary);
  }
  json["inference_seconds"] = seconds.all;
  json["seconds"] = seconds_of_process();
  return finish(o.json, diagnostics, std::move(json), summary);
}

}  // namespace

void add_evaluate(CommandLine& line) {
  EvaluateOptions* o = nullptr;
  Verb verb = add_verb<EvaluateOptions>(
      line, "evaluate", "measure a program's accuracy, and the float model's for comparison",
      "deuteron evaluate model.pte --inputs test.npy --labels labels.npy --model model.pt2",
      evaluate, o);
  verb.option("program", o->program, "the program (.pte)").value("P").required();
  add_files(verb, "--input,--inputs", o->inputs,
            "test data: an array, images or a folder of either; once for each input, in order, or "
            "one .npz for all inputs");
  verb.option("--labels", o->labels,
              "the class of each sample: a .npy of integers, or a .bin of bytes")
      .value("F");
  verb.option("--model", o->model, "the float model to compare with (.pt2, .tflite or .onnx)")
      .value("M");
  add_verify_key(verb, o->verify_key);
  add_input_shape(verb, o->input_shapes);
  add_part(verb, o->part);
  add_state(verb, o->states);
  verb.flag("--stream", o->is_stream,
            "the samples are the steps of one sequence; by default a program's state is reset "
            "before each sample");
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
