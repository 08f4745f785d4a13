// SPDX-License-Identifier: Apache-2.0
// Which channels need not be computed. A layer that reads one can do without it where its weights
// for it are zero, where it is constant (then its sums move into the bias, but where a window reads
// padding instead), or where it always holds what another channel does (then the weights of the two
// are added up).
#pragma once
#include <cstdint>
#include <vector>

#include "compile/simplify/channel_facts.h"

namespace deuteron {

class UnneededChannels {
 public:
  // `tile`: so many channels take hardly more time than one. Where some are kept, a whole number of
  // tiles is, as far as there are channels.
  UnneededChannels(const Graph& g, const ChannelFacts& facts, i64 tile);

  // By value and channel; empty for a value that keeps all.
  const std::vector<std::vector<bool>>& removed() const { return removed_; }
  bool is_removed(ValueId v, i64 c) const {
    const std::vector<bool>& r = removed_[static_cast<size_t>(v)];
    return !r.empty() && r[static_cast<size_t>(c)];
  }
  std::vector<i64> kept(ValueId v) const;

  // What a dense layer reads instead of all channels: weights as they stand, with those of removed
  // channels added where they go; and biases.
  struct Layer {
    std::vector<int8_t>
        weights;  // of all filters and channels; those that are removed hold anything
    std::vector<i32> bias;
  };
  Layer layer_without(NodeId n) const;

 private:
  void allow(ValueId v);
  void keep(ValueId v, i64 c);
  void keep_all(ValueId v);
  void keep_what_ties_need(NodeId n);
  void keep_what_a_layer_needs(NodeId n);
  bool can_fold(NodeId n, i64 channel, const std::vector<bool>& at_padding) const;
  void keep_whole_tiles();
  void settle();

  const Graph& g_;
  const ChannelFacts& facts_;
  const i64 tile_;
  std::vector<std::vector<bool>> removed_;
  bool changed_ = false;
};

}  // namespace deuteron
