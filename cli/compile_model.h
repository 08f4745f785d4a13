// SPDX-License-Identifier: Apache-2.0
// What `compile` and `analyze` have in common: their options, and the way from a model file to a
// Compilation.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/data/inputs.h"
#include "base/data/model_part.h"
#include "base/data/option_number.h"
#include "cli/options.h"
#include "cli/output_paths.h"
#include "compile/compilation.h"
#include "compile/options.h"
#include "explain/report/program_report.h"
#include "targets/target.h"

namespace deuteron {

struct ModelOptions {
  std::string model, target, json, html, firmware_ops, kernel_selection;
  std::string io = "model", observer = "auto", precision = "int8", stop_after;
  std::string dialect, prefer;  // empty: what the recipe says
  std::vector<std::string> calibrate, explain, neutron_options, input_shapes, states, layers;
  ModelPart part;
  ImageMap image;
  bool strict = false;
  CompileOptions compile;
};
// "classifier=int16"; nothing where it is no such text.
std::optional<NamedLayer> read_layer(const std::string& text);
// "classifier" of "classifier=cpu".
std::optional<std::string> cpu_layer(const std::string& text);
inline constexpr NumberRange kRewrites{.whole = true,
                                       .most = std::numeric_limits<i64>::max(),
                                       .sign = NumberRange::Sign::not_negative};  // --stop-after N
void add_model_options(Verb& verb, ModelOptions& options);
void add_program_options(Verb& verb,
                         ModelOptions& options);  // of those: what the program depends on
void add_accuracy_options(Verb& verb, ModelOptions& options);  // of those: how values are quantized
void add_npu_options(Verb& verb, ModelOptions& options);  // of those: what goes to the NPU, and how

// What the recipe of the target says about quantization and the NPU, beside what the options say
// already.
void follow_recipe(const Target& target, CompileOptions& options);

struct CompiledModel {
  Target target;
  Compilation compilation;
  ProgramReport program;  // what the compilation came to; empty where there is no program
  Samples samples;        // empty: nothing to measure accuracy on
  bool made_up_samples = false;
};

// What both read, and what both write, for check_outputs().
std::vector<NamedPath> inputs_of(const ModelOptions& options);
std::vector<NamedPath> outputs_of(const ModelOptions& options);

// `make_up_samples`: a float model without calibration data gets seeded random inputs and a
// warning; else that is an error.
std::optional<CompiledModel> compile_model(const ModelOptions& options, bool make_up_samples,
                                           Diagnostics& diagnostics);
// For a target that is no file's: options.target is not read.
std::optional<CompiledModel> compile_model_for(Target target, const ModelOptions& options,
                                               bool make_up_samples, Diagnostics& diagnostics);

// Whether it stopped before there was a program (--stop-after).
inline bool has_program(const CompiledModel& m) { return !m.compilation.pte.empty(); }

std::vector<InputSpec> float_inputs(const Graph& graph,
                                    const ByteInputs& byte_inputs = {});  // in the user's axes
// Between -1 and 1: what normalised images and features mostly are. The same every time.
Samples made_up_samples(const std::vector<InputSpec>& inputs);

}  // namespace deuteron
