// SPDX-License-Identifier: Apache-2.0
// What a `.pt2` file holds, without importing it: for `deuteron inspect`. Works for models whose
// operators are not supported, too.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/tensor/type.h"

namespace deuteron {

struct Pt2Summary {
  struct Tensor {
    std::string name, dtype;
    Shape shape;  // in the user's axes; a dynamic size is the example's
    bool is_channels_last = false, is_dynamic = false;
  };
  struct Operator {
    std::string target;  // "aten.conv2d.default"
    i64 count = 0;
    // the import has a row for it; what it does with the arguments is not tried
    bool is_importable = false;
  };
  struct Weights {
    i64 tensors = 0, elements = 0, bytes = 0;
  };

  std::string file, torch_version;
  std::string flavour;        // "training" (as exported) or "core" (after run_decompositions)
  bool is_quantized = false;  // has operators of quantized_decomposed
  i64 file_bytes = 0, nodes = 0;
  std::vector<Tensor> inputs, outputs;
  std::vector<Operator> operators;  // by target
  Weights parameters, buffers;      // what the nodes read; constants count as buffers
  Weights unused;                   // in the file, read by no node
};
std::optional<Pt2Summary> summarize_pt2(const std::string& path, Diagnostics& diagnostics);

// For a person: a few lines, the operators as a table.
std::string to_text(const Pt2Summary& summary);

}  // namespace deuteron
