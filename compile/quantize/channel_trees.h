// SPDX-License-Identifier: Apache-2.0
// What the channels of a value are made of, as far as a size for each goes through it
// (compile/quantize/sized_operands.h).
#pragma once
#include <algorithm>
#include <optional>
#include <vector>

#include "compile/quantize/border_inputs.h"
#include "compile/quantize/channel_sizes.h"

namespace deuteron {

enum class Made : u8 { input, layer, other };

// What is known of a channel.
struct Channel {
  Made made = Made::other;
  ValueId leaf = -1;  // the value that it comes from
  bool may_move = false;
  double step = 0;  // of int8 as it would be, in units of the value
};
using Channels = std::vector<Channel>;

inline bool has(const Channels& channels, Made made) {
  return std::ranges::any_of(channels, [&](const Channel& c) { return c.made == made; });
}

// How a value gets a size for each channel.
struct Tree {
  enum Form : u8 {
    input,    // an affine
    layer,    // other weights
    other,    // a product with a number
    concat,   // each operand its own
    line,     // what is in front of it gets others; it is no longer needed
    sum,      // both operands
    product,  // one operand
    kept,     // its operand
  } form = other;
  ValueId value = -1;
  Channels channels = {};
  std::vector<Tree> parts = {};  // of the operands that get sizes
  ChannelLine through = {};
  double alpha = 1;
  std::optional<Chain> chain = {};
};

// What a layer reads: lines in front of it become part of its weights.
struct LayerOperand {
  ValueId value;
  ChannelLine line;  // value -> what the layer reads
};

// Of a graph between two changes.
class ChannelTrees {
 public:
  ChannelTrees(const Graph& g, const SeenRanges& seen, const FloatPorts& ports)
      : g_(g), seen_(seen), uses_(live_uses(g)), inputs_(g, seen, ports) {}

  const Uses& uses() const { return uses_; }
  const BorderInputs& inputs() const { return inputs_; }

  // What the node makes. Without channels: none has a size of its own behind it.
  Tree look_through(const Node& node, bool must_move = false) const;
  LayerOperand operand_of(ValueId y, bool is_padded_somewhere) const;

 private:
  // What reads a value beside one other node: layers, which can read it at any size.
  struct Layers {
    bool is_known = false, any_padded = false;
  };
  Tree look(ValueId v, bool must_move = false) const;
  bool is_fine_function(const Chain& chain) const;
  Layers layers_beside(ValueId v) const;
  Tree look_at_operands(const Node& node, bool must_move) const;
  Tree look_at_one(const Node& node, Tree::Form form, size_t operand, bool must_move = false) const;
  Tree look_before(const Node& node, size_t operand, const ChannelLine& line) const;
  Tree look_at_sum(const Node& node) const;
  Tree look_at_product(const Node& node) const;

  const Graph& g_;
  const SeenRanges& seen_;
  const Uses uses_;
  const BorderInputs inputs_;
};

inline size_t channels_of(const Graph& g, ValueId v) {
  return g.type(v).rank() > 0 ? static_cast<size_t>(g.type(v).shape.back()) : 0;
}
// The same elements in the same order.
bool is_view(const Node& node);
struct PlainLine {
  ChannelLine line;
  size_t operand;
};
// The line that a node without its bounds is.
std::optional<PlainLine> plain_line(const Graph& g, const Node& node);

}  // namespace deuteron
