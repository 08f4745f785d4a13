// SPDX-License-Identifier: Apache-2.0
// A small model for every operator of torch that can be imported: what `deuteron ops` shows the
// fate of. torch_examples.inc holds them as make_examples.py wrote them.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "ir/graph.h"

namespace deuteron::pt2 {

struct TorchExample {
  std::string_view target;  // of the operator that it is about: "aten.conv2d.default"
  std::string_view form;    // what is special about it, of an operator with several: "mode=reflect"
  std::string_view
      text;  // as in tests/pt2_text.py: a line for each input, parameter, call and output
  std::string_view call() const;  // the line of that operator
};

// Sorted by target.
const std::vector<TorchExample>& torch_examples();

// As a file of the same model would be imported. Weights, where the text gives no numbers, are made
// by a rule.
std::optional<Graph> import_example(const TorchExample& example, Diagnostics& diagnostics);

}  // namespace deuteron::pt2
