// SPDX-License-Identifier: Apache-2.0
// What operators make of constants alone, where not all of them are float32: shapes, positions,
// truth values. They steer the import of other operators, so they are computed at once, and
// exactly.
#pragma once
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace deuteron::tflite {

// The only result; nothing: stays an operator of the graph. `elements` counts what was read and
// written for a model: what steers one is small, and a file of many operators on large constants is
// not to take all day.
std::optional<Constant> fold(const Graph& graph, const Op& op, const std::vector<ValueId>& inputs,
                             const Type& result, i64& elements);

// The same of a part of a constant with steps, which the result has as well.
std::optional<Constant> fold_part(const Graph& graph, const Op& op, ValueId steps,
                                  const Type& result, i64& elements);

}  // namespace deuteron::tflite
