// SPDX-License-Identifier: Apache-2.0
// Scales that came out as zero or infinity: float32 cannot hold every product of the scales that a
// model and its data bring. Every front end ends with this, and so does every pass.
#pragma once
#include "base/diagnostic.h"
#include "ir/graph.h"

namespace deuteron {

// One error for the first value with such a scale. It names the operator that makes the value, or
// reads it.
void refuse_unusable_scales(const Graph&, Diagnostics&);

}  // namespace deuteron
