// SPDX-License-Identifier: Apache-2.0
// Which channels of a result are made of which channels of the operands, where each is made of its
// own alone. The channels of a value are its elements along the last axis.
#pragma once
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace deuteron {

// Channel `to` of the result is made of channel `from` of an operand.
struct ChannelTie {
  size_t operand;
  i64 from, to;
  bool operator==(const ChannelTie&) const = default;
};

struct ChannelTies {
  std::vector<ChannelTie> ties;  // of operands that are computed, in the order of `to`
  std::vector<size_t> whole;     // operands that are read as a whole beside them
  // Of a padding: the channels of the result with elements of no operand, and what these are.
  std::vector<bool> is_padded;
  float padding = 0;
};

// Nothing for an operator that mixes channels, or whose channels are not along the last axis.
std::optional<ChannelTies> channel_ties(const Graph& g, const Node& node);

// The same operator where the result keeps the channels `to`, ascending, and operand 0 the channels
// `from`.
Op with_channels(const Graph& g, const Node& node, const std::vector<i64>& from,
                 const std::vector<i64>& to);

// Channels of a value; 0 for a single number.
inline i64 channels_of(const Type& t) { return t.shape.empty() ? 0 : t.shape.back(); }

}  // namespace deuteron
