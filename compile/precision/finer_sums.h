// SPDX-License-Identifier: Apache-2.0
// Weights of few bits, such as -7..7, leave the sums of an int8 layer coarse. A sum that is rounded
// twice, as beside an NPU, is rounded to a fraction of a step first, and what then is half a step
// goes up: on coarse sums that is often, and all results are too large.
#pragma once
#include "ir/graph.h"

namespace deuteron {

// Multiplies weights and biases of int8 layers by a power of two and divides their scales by it, as
// far as int8 and int32 allow: the same numbers in finer sums. Answers how many weights changed.
int make_sums_finer(Graph& graph);

}  // namespace deuteron
