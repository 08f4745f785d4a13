// SPDX-License-Identifier: Apache-2.0
// What can be said of the channels of int8 values whatever the inputs are: interval arithmetic over
// the integers that the program computes with. The channels of a value are its elements along the
// last axis.
#pragma once
#include <vector>

#include "compile/precision/int8_layer.h"
#include "compile/simplify/channel_ties.h"

namespace deuteron {

// Of the node of the same index: what it is to one who asks for channels.
struct NodeChannels {
  std::optional<Int8Layer> layer;
  std::optional<ChannelTies> ties;  // a depthwise layer has both
};

struct ChannelFacts {
  explicit ChannelFacts(const Graph& g, const Target& target);

  std::vector<NodeChannels> nodes;
  // By value and channel; a value that is no int8 has none.
  std::vector<std::vector<Steps>> steps;
  std::vector<std::vector<i32>> like;  // the first channel of the same value that always holds the
                                       // same: often the channel itself
};

}  // namespace deuteron
