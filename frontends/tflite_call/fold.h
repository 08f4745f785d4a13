// What operators make of constants alone, where not all of them are float32: shapes, positions, truth values. They steer the import of
// other operators, so they are computed at once, and exactly.
#pragma once
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace deuteron::tflite {

// The only result; nothing: stays an operator of the graph.
std::optional<Constant> fold(const Graph& graph, const Op& op, const std::vector<ValueId>& inputs, const Type& result);

}  // namespace deuteron::tflite
