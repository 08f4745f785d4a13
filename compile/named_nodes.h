// SPDX-License-Identifier: Apache-2.0
// Which nodes of a graph a name of the user's stands for: --layer.
#pragma once
#include <string>

#include "base/diagnostic.h"
#include "ir/graph.h"

namespace deuteron {

// `wanted` is an operator (`conv2d`, `aten.conv2d.default`, or as Neutron IR calls it, `CONV_2D`),
// a node or a module of the model: whole words, never a part of one.
bool is_named(const Graph&, const Node&, const std::string& wanted);

// A name that nothing in the graph has is an error with the nearest names.
void check_name(const Graph&, const std::string& option, const std::string& wanted,
                const std::string& rule, Diagnostics&);

}  // namespace deuteron
