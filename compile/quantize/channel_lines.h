// SPDX-License-Identifier: Apache-2.0
// Sums and products with constants behind a value, taken together: y[i] = slope[i % n] * x[i] + offset[i % n] in storage order.
#pragma once
#include <optional>

#include "ir/graph.h"
#include "ops/batch_norm/channel_line.h"

namespace deuteron {

// What a node makes of its operand x, if it is such a line of it; as many slopes as offsets.
std::optional<ChannelLine> line_of(const Graph& graph, const Node& node, ValueId x);

// second(first(x)); nothing, where their channels do not fit each other.
std::optional<ChannelLine> composed(const ChannelLine& first, const ChannelLine& second);

// Another shape for the same elements.
Op reshape_to(const Shape& shape);

// Of two operands, without bounds.
bool is_plain_sum(const Op& op);

}  // namespace deuteron
