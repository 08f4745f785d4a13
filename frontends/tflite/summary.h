// SPDX-License-Identifier: Apache-2.0
// What a `.tflite` file holds, without importing it: for `deuteron inspect`. Works for models whose
// operators are not supported, too.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/tensor/type.h"

namespace deuteron {

struct TfliteSummary {
  struct Tensor {
    std::string name, type;  // "INT8", with scale and zero point where it has them
    Shape shape;
  };
  struct Operator {
    std::string name;  // "CONV_2D", or a custom operator's
    i64 count = 0;
    // the import has a row for it; what it does with the options is not tried
    bool is_importable = false;
  };
  std::string file, description;
  i64 file_bytes = 0, operators_total = 0, constants = 0, constant_bytes = 0;
  std::vector<Tensor> inputs, outputs;
  std::vector<Operator> operators;  // by name
};
std::optional<TfliteSummary> summarize_tflite(const std::string& path, Diagnostics& diagnostics);

// For a person: a few lines, the operators as a table.
std::string to_text(const TfliteSummary& summary);

// The builtins that are imported, by name: what docs/formats.md has.
std::vector<std::string> imported_tflite_builtins();

}  // namespace deuteron
