// SPDX-License-Identifier: Apache-2.0
// Sums and products with constants behind a value, taken together: y[i] = slope[i % n] * x[i] +
// offset[i % n] in storage order.
#pragma once
#include <optional>

#include "ir/graph.h"
#include "ops/batch_norm/channel_line.h"

namespace deuteron {

// What a node makes of its operand x, if it is such a line of it; as many slopes as offsets.
std::optional<ChannelLine> line_of(const Graph& graph, const Node& node, ValueId x);

// second(first(x)); nothing, where their channels do not fit each other.
std::optional<ChannelLine> composed(const ChannelLine& first, const ChannelLine& second);

// Another shape for the same elements, the larger of an element and zero, an element times a
// number.
Op reshape_to(const Shape& shape);
Op relu();
Op times(double factor);

// x + alpha * y, also with bounds: alpha. Nothing for another operator.
std::optional<double> alpha_of_sum(const Op& op);
bool is_plain_sum(const Op& op);  // without bounds
bool is_product(const Op& op);    // x * y
// f(a * x) = a * f(x) of each element for any a > 0, such as relu.
bool is_homogeneous(const Op& op);
// Puts each number of its operands, or some of them, at another place.
bool only_moves(const Node& node);
// y[i] = f(x[i]) or f(a[i], b[i]).
bool is_of_elements(const Node& node);

}  // namespace deuteron
