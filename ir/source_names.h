// SPDX-License-Identifier: Apache-2.0
// The user's names for what nodes compute, as messages and reports spell them.
#pragma once
#include <string>

#include "ir/graph.h"

namespace deuteron {

// The module where the model says one ("backbone.7.conv"), else the node's name.
std::string user_name(const SourceOp& source);

// "backbone.7.conv + relu_7": each name once, since three operators of one module are one name.
// Quantizers are left out.
std::string user_names(const Graph& graph, const Origin& origin);

// "conv2d_7 (aten.conv2d.default), relu_7 (aten.relu.default)"
std::string user_operators_text(const Graph& graph, const Origin& origin);

}  // namespace deuteron
