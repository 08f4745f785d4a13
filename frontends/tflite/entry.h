// SPDX-License-Identifier: Apache-2.0
// Where a model begins and ends: one of its subgraphs, or a part of it (base/data/model_part.h).
#pragma once
#include "base/data/model_part.h"
#include "base/tflite/open.h"

namespace deuteron::tflite {

struct Entry {
  i32 subgraph = 0;
  bool is_chosen = false;            // by the user; else what no operator runs is another entry
  std::vector<bool> operators;       // which are of the part
  std::vector<i32> inputs, outputs;  // tensors
};

// Nothing: reported.
std::optional<Entry> find_entry(const Model& model, const ModelPart& part, const std::string& file,
                                Diagnostics& diagnostics);

// What --signature may say: "`encode`, `decode`".
std::string names_of_entries(const Model& model);

}  // namespace deuteron::tflite
