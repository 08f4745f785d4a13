// SPDX-License-Identifier: Apache-2.0
// State that the user names: an input and an output of the model that are one value from call to
// call.
#pragma once
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "ir/graph.h"

namespace deuteron {

// Each text is `INPUT=OUTPUT`, by the names of the model. Such a state begins with zeros. The graph
// is as it came from the front end; errors are in `diagnostics`.
void name_states(Graph& graph, const std::vector<std::string>& texts, Diagnostics& diagnostics);

}  // namespace deuteron
