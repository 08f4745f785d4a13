// SPDX-License-Identifier: Apache-2.0
// An ONNX model (opset 11 to 28) becomes a Graph. docs/formats.md has the operators.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "base/data/input_shapes.h"
#include "base/data/model_part.h"
#include "base/diagnostic.h"
#include "ir/graph.h"

namespace deuteron {

// Reads float models, and those with QuantizeLinear and DequantizeLinear or with operators on steps
// (QLinearConv). Every operator that cannot be imported is reported in one run. The result
// verifies. What holds after import is what holds for a `.pt2` (frontends/pt2/import.h): operators
// are written as those of torch, and imported as these. Besides:
//  - inputs have the shape that the file says, or the user; a size that is left open in the first
//  axis is 1, with a note
//  - tensors of float16, bfloat16 and double are float32
//  - what depends on no input and steers the model (shapes, axes, positions) is computed
//  - local functions are written out; of an If whose condition is known its branch is
//  - sources are the nodes of the file, by their numbers in the order in which they are written
//  out, named as they are or after their results
std::optional<Graph> import_onnx(const std::string& path, const InputShapes& shapes,
                                 Diagnostics& diagnostics, const ModelPart& part = {});

// The same for a file in memory, without external data.
std::optional<Graph> import_onnx(std::span<const std::byte> bytes, const std::string& name,
                                 const InputShapes& shapes, Diagnostics& diagnostics);

}  // namespace deuteron
