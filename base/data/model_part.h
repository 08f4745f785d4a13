// SPDX-License-Identifier: Apache-2.0
// A part of a model file: what --signature, --inputs-at and --outputs-at ask for, before anything
// of the rest is looked at.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/diagnostic.h"

namespace deuteron {

struct ModelPart {
  std::string signature;                           // of a .tflite file; empty: its first subgraph
  std::vector<std::string> inputs_at, outputs_at;  // names of values, or of operators, whose
                                                   // results they are; empty: the model's own
  bool is_cut() const { return !inputs_at.empty() || !outputs_at.empty(); }
};

// An operator of a model, by names of values.
struct NamedStep {
  std::string name;
  std::vector<std::string> inputs, outputs;
  bool has_effect = false;  // beside its results: it stays
};

struct CutModel {
  std::vector<bool> steps;  // which are left
  std::vector<std::string> inputs,
      outputs;  // values; inputs: those of the part, then the model's own that are still read
};

// What the outputs are made of, back to the inputs. A name that nothing has, and an input that
// nothing reads any more, are reported.
std::optional<CutModel> cut_model(std::span<const NamedStep> steps,
                                  const std::vector<std::string>& inputs,
                                  const std::vector<std::string>& outputs, const ModelPart& part,
                                  const std::string& model, Diagnostics& diagnostics);

}  // namespace deuteron
