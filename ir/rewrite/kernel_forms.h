// SPDX-License-Identifier: Apache-2.0
// Int8 operators that run as another operator, and those that run in float.
#pragma once
#include "ir/rewrite/patch.h"

namespace deuteron {

extern const Rule kLinearToConv, kLinearToMatmul;
std::optional<Patch> bilinear_in_float(const Graph& g, const Uses& uses, NodeId root);

}  // namespace deuteron
