// SPDX-License-Identifier: Apache-2.0
// A .tflite model (TensorFlow Lite, LiteRT; schema version 3) becomes a Graph. docs/formats.md has
// the builtins.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/data/model_part.h"
#include "base/diagnostic.h"
#include "ir/graph.h"

namespace deuteron {

// Reads float and int8 models, and uint8 ones, whose steps become int8 by subtracting 128. Every
// operator that cannot be imported is reported in one run, with its number, its builtin and the
// name of its first result. The result verifies. What holds after import:
//  - inputs and outputs are float32 in the file's order of axes; where the file has steps, a
//  quantize or dequantize stands beside them
//  - operators on steps stand between dequantize and quantize with the file's parameters, and
//  Graph::numerics is tflite
//  - constants point into the memory-mapped file wherever their alignment allows
//  - sources are the operators of the file, by their numbers, named after their first results
std::optional<Graph> import_tflite(const std::string& path, Diagnostics& diagnostics,
                                   const ModelPart& part = {});

// The same for a file in memory that `owner` keeps alive. `bytes` are aligned to 8.
std::optional<Graph> import_tflite(std::span<const std::byte> bytes,
                                   std::shared_ptr<const void> owner, const std::string& name,
                                   Diagnostics& diagnostics, const ModelPart& part = {});

}  // namespace deuteron
