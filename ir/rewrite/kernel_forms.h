// SPDX-License-Identifier: Apache-2.0
// Int8 operators that run as another operator, and those that run in float.
#pragma once
#include "ir/rewrite/patch.h"

namespace deuteron {

std::optional<Patch> linear_to_conv(const Graph& g, const Uses& uses, NodeId root);
std::optional<Patch> linear_to_matmul(const Graph& g, const Uses& uses, NodeId root);
std::optional<Patch> bilinear_in_float(const Graph& g, const Uses& uses, NodeId root);

}  // namespace deuteron
