// SPDX-License-Identifier: Apache-2.0
// The steps in which a lowered program gives its outputs and takes its inputs.
#pragma once
#include "ir/graph.h"

namespace deuteron {

// At one index of an axis of the value's shape; axis -1: everywhere. 0: not known, or not the same
// everywhere.
float step_of_output(const Graph& lowered, ValueId output, i64 axis, i64 index);
float step_of_input(const Graph& lowered, ValueId input, i64 axis, i64 index);

}  // namespace deuteron
