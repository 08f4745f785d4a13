// SPDX-License-Identifier: Apache-2.0
// What an `.onnx` file holds, without importing it: for `deuteron inspect`. Works for models whose
// operators are not supported, too.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/tensor/type.h"

namespace deuteron {

struct OnnxSummary {
  struct Tensor {
    std::string name, type, shape;  // "FLOAT", "batch,3,96,96"
  };
  struct Operator {
    std::string name;  // "Conv", "com.microsoft.QLinearAdd"
    i64 count = 0;
    bool is_importable = false;  // the import has a row for it, or the file has it as a function;
                                 // its attributes are not tried
  };
  std::string file, producer;
  i64 file_bytes = 0, nodes = 0, opset = 0, ir_version = 0, initializers = 0, initializer_bytes = 0,
      functions = 0;
  std::vector<Tensor> inputs, outputs;
  std::vector<Operator> operators;  // by name
};
std::optional<OnnxSummary> summarize_onnx(const std::string& path, Diagnostics& diagnostics);

// For a person: a few lines, the operators as a table.
std::string to_text(const OnnxSummary& summary);

// The operators that are imported, by name: what docs/formats.md has.
std::vector<std::string> imported_onnx_operators();

}  // namespace deuteron
