// SPDX-License-Identifier: Apache-2.0
#include "cli/float_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/compile_model.h"
#include "compile/calibrate/calibrate.h"
#include "compile/calibrate/each_sample.h"
#include "compile/calibrate/float_executor.h"
#include "frontends/name_states.h"
#include "frontends/read_graph.h"

namespace deuteron {

static bool same_inputs(const std::string& path, std::span<const InputSpec> model,
                        std::span<const InputSeries> program, Diagnostics& diagnostics) {
  const auto refuse = [&](std::string what, std::string measured, std::string limit) {
    diagnostics.add({Severity::error, path, std::move(what), std::move(measured), std::move(limit),
                     "model.inputs", "give the model that the program was compiled from"});
    return false;
  };
  if (model.size() != program.size())
    return refuse("the model has another number of inputs than the program",
                  std::to_string(model.size()), std::to_string(program.size()));
  for (size_t i = 0; i < model.size(); ++i) {
    if (program[i].dtype != DType::f32 && program[i].dtype != model[i].dtype)
      return diagnostics.error(path,
                               fmt::format("input {} of the program takes {}, so the float model "
                                           "cannot be fed the same data",
                                           i, name_of(program[i].dtype)),
                               "model.inputs",
                               "compile the model with `--io float` for this comparison"),
             false;
    if (model[i].shape != program[i].shape)
      return refuse(
          fmt::format("input `{}` of the model has another shape than that of the program",
                      model[i].name),
          fmt::format("[{}]", to_text(model[i].shape)),
          fmt::format("[{}]", to_text(program[i].shape)));
  }
  return true;
}

std::optional<FloatOutputs> run_float_model(
    const std::string& path, const std::vector<std::string>& input_shapes, const ModelPart& part,
    const std::vector<std::string>& states, std::span<const InputSeries> inputs, i64 samples,
    int threads, Diagnostics& diagnostics, Sequence sequence) {
  const InputShapes shapes = parse_input_shapes(input_shapes, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  std::optional<Graph> graph = read_graph(path, diagnostics, shapes, part);
  if (graph) name_states(*graph, states, diagnostics);
  if (!graph || diagnostics.has_errors() ||
      !same_inputs(path, float_inputs(*graph), inputs, diagnostics))
    return std::nullopt;
  const Graph& g = *graph;
  FloatOutputs result;
  for (const Port& p : g.user_outputs()) {
    result.names.push_back(p.name);
    result.shapes.push_back(logical_shape(p, g.type(p.value).shape));
    result.outputs.emplace_back(static_cast<size_t>(samples * numel(result.shapes.back())));
  }
  const Samples data = with_states(g, to_samples(inputs), sequence);
  const FloatExecutor executor(g);
  for_each_sample(static_cast<size_t>(samples), threads, [&](size_t s, int) {
    const std::vector<std::vector<float>> outputs = executor.run(stored_inputs(g, data[s]), {});
    for (size_t o = 0; o < result.outputs.size(); ++o) {
      const std::vector<float> user =
          to_user(g.outputs[o], g.type(g.outputs[o].value).shape, outputs[o]);
      std::copy(user.begin(), user.end(),
                result.outputs[o].begin() + static_cast<i64>(s * user.size()));
    }
  });
  result.graph = std::move(*graph);
  return result;
}

Difference difference(std::span<const float> reference, std::span<const float> value,
                      i64 per_sample) {
  Difference d;
  d.sqnr_db = sqnr_db(reference, value);
  for (size_t i = 0; i < reference.size(); ++i)
    if (const double e = std::abs(static_cast<double>(reference[i]) - value[i]); e > d.max_abs) {
      d.max_abs = e;
      d.sample = static_cast<i64>(i) / std::max<i64>(per_sample, 1);
      d.index = static_cast<i64>(i) % std::max<i64>(per_sample, 1);
    }
  return d;
}

}  // namespace deuteron
