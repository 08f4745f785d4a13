// SPDX-License-Identifier: Apache-2.0
// Proves that a graph is well formed; runs after every pass, always.
#pragma once
#include <optional>
#include <string>

#include "ir/graph.h"

namespace deuteron {

// Checks: ids in range, each value made once and before its readers, constants have their type's
// bytes, inference agrees with dtype and shape of every result, quantization parameters are well
// formed (finite positive scales, zero points in range, axis extent), a node has an origin, origins
// exist, ports have a permutation as order, the two ports of a state are alike, a kernel call's
// arguments fit its operands and results. Returns the first fault as text, with the node described.
std::optional<std::string> find_fault(const Graph& graph);

// The part about one type: extents, number of elements, quantization parameters.
std::optional<std::string> find_fault(const Type& type);

// Source ids that no node carries and Graph::folded does not explain: what a rewriting lost.
// Sorted.
Origin lost_sources(const Graph& graph);

}  // namespace deuteron
