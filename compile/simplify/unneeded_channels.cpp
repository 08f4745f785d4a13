// SPDX-License-Identifier: Apache-2.0
#include "compile/simplify/unneeded_channels.h"

#include <algorithm>
#include <cstdlib>

namespace deuteron {

// The largest set: all channels are taken for unneeded until somebody is found to need them.
UnneededChannels::UnneededChannels(const Graph& g, const ChannelFacts& facts, i64 tile)
    : g_(g), facts_(facts), tile_(tile), removed_(g.values.size()) {
  for (size_t n = 0; n < g.nodes.size(); ++n)
    if (const NodeChannels& c = facts.nodes[n]; c.ties || (c.layer && c.layer->is_dense()))
      allow(g.nodes[n].outputs[0]);
  for (const Port& port : g.outputs) keep_all(port.value);
  for (size_t n = 0; n < g.nodes.size(); ++n) {
    const NodeChannels& c = facts.nodes[n];
    if (c.ties)
      for (const size_t k : c.ties->whole) keep_all(g.nodes[n].inputs[k]);
    else if (!c.layer || !c.layer->is_dense())
      for (const ValueId v : g.nodes[n].inputs) keep_all(v);
  }
  settle();
}

std::vector<i64> UnneededChannels::kept(ValueId v) const {
  std::vector<i64> channels;
  for (i64 c = 0; c < channels_of(g_.type(v)); ++c)
    if (!is_removed(v, c)) channels.push_back(c);
  return channels;
}

void UnneededChannels::allow(ValueId v) {
  const size_t channels = facts_.steps[static_cast<size_t>(v)].size();
  removed_[static_cast<size_t>(v)].assign(channels, true);
}

void UnneededChannels::keep_all(ValueId v) { removed_[static_cast<size_t>(v)].clear(); }

void UnneededChannels::keep(ValueId v, i64 c) {
  if (!is_removed(v, c)) return;
  removed_[static_cast<size_t>(v)][static_cast<size_t>(c)] = false;
  changed_ = true;
}

void UnneededChannels::keep_what_ties_need(NodeId n) {
  const Node& node = g_.nodes[n];
  const ValueId y = node.outputs[0];
  for (const ChannelTie& t : facts_.nodes[n].ties->ties) {
    const ValueId x = node.inputs[t.operand];
    if (!is_removed(y, t.to)) keep(x, t.from);
    if (!is_removed(x, t.from)) keep(y, t.to);
  }
}

bool UnneededChannels::can_fold(NodeId n, i64 channel, const std::vector<bool>& at_padding) const {
  const Steps& s =
      facts_.steps[static_cast<size_t>(g_.nodes[n].inputs[0])][static_cast<size_t>(channel)];
  if (!s.is_constant()) return false;
  return s.low == facts_.nodes[n].layer->x_zero() || !at_padding[static_cast<size_t>(channel)];
}

namespace {

// The weights of a layer's filters that are kept, by channel.
class Columns {
 public:
  Columns(const Int8Layer& layer, std::vector<i64> filters)
      : layer_(layer),
        filters_(std::move(filters)),
        reads_(static_cast<size_t>(layer.depth)),
        at_padding_(reads_) {
    i32 largest = 0;
    for (const i64 o : filters_) {
      const std::span<const int8_t> w = layer.filter(o);
      for (size_t k = 0; k < w.size(); ++k) {
        if (w[k] == 0) continue;
        const size_t c = k % reads_.size();
        largest = std::max(largest, std::abs(static_cast<i32>(w[k])));
        reads_[c] = true;
        if (layer.reads_padding[k / reads_.size()]) at_padding_[c] = true;
      }
    }
    // Four bits stay four bits (docs/int4.md).
    limit_ = largest <= 7 ? 7 : 127;
  }
  bool reads(i64 c) const { return reads_[static_cast<size_t>(c)]; }
  const std::vector<bool>& at_padding() const { return at_padding_; }

  std::vector<i32> of(i64 c) const {
    std::vector<i32> column;
    for (const i64 o : filters_)
      for (i64 t = 0; t < layer_.taps; ++t)
        column.push_back(layer_.filter(o)[static_cast<size_t>(t * layer_.depth + c)]);
    return column;
  }
  // False: a sum is no weight, and nothing is added.
  bool add(std::vector<i32>& to, i64 c) const {
    std::vector<i32> sum = of(c);
    for (size_t k = 0; k < sum.size(); ++k)
      if (std::abs(sum[k] += to[k]) > limit_) return false;
    to = std::move(sum);
    return true;
  }

 private:
  const Int8Layer& layer_;
  std::vector<i64> filters_;
  std::vector<bool> reads_, at_padding_;
  i32 limit_;
};

}  // namespace

void UnneededChannels::keep_what_a_layer_needs(NodeId n) {
  const Int8Layer& layer = *facts_.nodes[n].layer;
  const ValueId x = g_.nodes[n].inputs[0], y = g_.nodes[n].outputs[0];
  if (std::ranges::find(removed_[static_cast<size_t>(x)], true) ==
      removed_[static_cast<size_t>(x)].end())
    return;
  const Columns columns(layer, kept(y));
  const std::vector<i32>& like = facts_.like[static_cast<size_t>(x)];
  std::vector<std::vector<i32>> sums(static_cast<size_t>(layer.depth));
  for (i64 c = 0; c < layer.depth; ++c) {
    if (!is_removed(x, c) || !columns.reads(c) || can_fold(n, c, columns.at_padding())) continue;
    const i64 first = like[static_cast<size_t>(c)];
    if (first == c) {
      keep(x, c);
      continue;
    }
    std::vector<i32>& sum = sums[static_cast<size_t>(first)];
    if (sum.empty()) sum = columns.of(first);
    keep(x, columns.add(sum, c) ? first : c);
  }
}

void UnneededChannels::settle() {
  do {
    changed_ = false;
    for (size_t k = g_.nodes.size(); k-- > 0;) {
      const auto n = static_cast<NodeId>(k);
      if (facts_.nodes[k].ties) keep_what_ties_need(n);
      else if (facts_.nodes[k].layer && facts_.nodes[k].layer->is_dense())
        keep_what_a_layer_needs(n);
    }
    if (!changed_) keep_whole_tiles();
  } while (changed_);
}

void UnneededChannels::keep_whole_tiles() {
  for (size_t v = 0; v < removed_.size(); ++v) {
    i64 kept = std::ranges::count(removed_[v], false);
    for (size_t c = 0; c < removed_[v].size() && (kept == 0 || kept % tile_ != 0); ++c) {
      if (!removed_[v][c]) continue;
      keep(static_cast<ValueId>(v), static_cast<i64>(c));
      ++kept;
    }
  }
}

UnneededChannels::Layer UnneededChannels::layer_without(NodeId n) const {
  const Int8Layer& layer = *facts_.nodes[n].layer;
  const ValueId x = g_.nodes[n].inputs[0], y = g_.nodes[n].outputs[0];
  const Columns columns(layer, kept(y));
  Layer result;
  for (i64 o = 0; o < layer.filters; ++o) {
    const std::span<const int8_t> w = layer.filter(o);
    result.weights.insert(result.weights.end(), w.begin(), w.end());
    result.bias.push_back(layer.bias(o));
  }
  for (i64 c = 0; c < layer.depth; ++c) {
    if (!is_removed(x, c) || !columns.reads(c)) continue;
    const bool folds = can_fold(n, c, columns.at_padding());
    const i64 first = facts_.like[static_cast<size_t>(x)][static_cast<size_t>(c)];
    const i32 step =
        facts_.steps[static_cast<size_t>(x)][static_cast<size_t>(c)].low - layer.x_zero();
    for (const i64 o : kept(y))
      for (i64 t = 0; t < layer.taps; ++t) {
        const i64 at = (o * layer.taps + t) * layer.depth;
        const int8_t w = layer.filter(o)[static_cast<size_t>(t * layer.depth + c)];
        if (folds) result.bias[static_cast<size_t>(o)] += step * w;
        else
          result.weights[static_cast<size_t>(at + first)] =
              static_cast<int8_t>(result.weights[static_cast<size_t>(at + first)] + w);
      }
  }
  return result;
}

}  // namespace deuteron
