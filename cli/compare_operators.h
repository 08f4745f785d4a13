// SPDX-License-Identifier: Apache-2.0
// How far each operator of a program is from the float model's.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cli/compile_model.h"
#include "cli/program_file.h"
#include "explain/inspect/layers.h"

namespace deuteron {

// What gave the program: `given`, with the target, the layout of inputs and outputs, and the NPU's
// options that the file shows where nobody gave others. nullopt: it was compiled with other data,
// other options, or by another version.
std::optional<ModelOptions> options_of(const ProgramFile& file, const ModelOptions& given,
                                       std::optional<CompiledModel>* model);

// Int8 values are those of a program that gives them all out, with the same results, the NPU's on
// the machine model; without an NPU values in float follow. nullopt, with a diagnostic: it does not
// run.
std::optional<std::vector<LayerError>> compare_operators(const ProgramFile& file,
                                                         const ModelOptions& options,
                                                         const CompiledModel& model,
                                                         std::span<const InputSeries> inputs,
                                                         Diagnostics& diagnostics);

}  // namespace deuteron
