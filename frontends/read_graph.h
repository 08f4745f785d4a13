// SPDX-License-Identifier: Apache-2.0
// A model file of any kind that we read becomes a Graph.
#pragma once
#include <optional>
#include <string>

#include "base/data/input_shapes.h"
#include "base/data/model_part.h"
#include "base/diagnostic.h"
#include "ir/graph.h"

namespace deuteron {

// `.pt2` archives, `.tflite` and `.onnx` models (known by their content or their name) and graphs
// in the text form (`.txt`, docs/formats.md). Everything else is refused with what it seems to be
// and what is read. `shapes` are for inputs whose sizes the file leaves open. Of a `part` nothing
// else is imported. The result verifies; errors are in `diagnostics`.
std::optional<Graph> read_graph(const std::string& path, Diagnostics& diagnostics,
                                const InputShapes& shapes = {}, const ModelPart& part = {});

}  // namespace deuteron
