// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/sized_operands.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "compile/quantize/border_outputs.h"
#include "compile/quantize/channel_lines.h"
#include "compile/quantize/channel_trees.h"
#include "ops/families.h"

namespace deuteron {
namespace {

ChannelSizes part_of(const ChannelSizes& all, size_t from, size_t count) {
  ChannelSizes part;
  for (size_t c = from; c < from + count; ++c) {
    part.add.push_back(all.add[c]);
    part.times.push_back(all.times[c]);
    part.is_zero.push_back(all.is_zero[c]);
  }
  return part;
}
// (slope * x + offset + add) * times = (x + (offset + add) / slope) * (slope * times)
ChannelSizes in_front(const ChannelLine& line, ChannelSizes sizes) {
  for (size_t c = 0; c < sizes.times.size(); ++c) {
    const double slope = line.slope[c % line.slope.size()];
    sizes.add[c] = (line.offset[c % line.offset.size()] + sizes.add[c]) / slope;
    sizes.times[c] *= slope;
  }
  return sizes;
}

// y = slope * x + offset, u = (x + add) * times: u = (y + slope * add - offset) * (times / slope)
ChannelSizes behind(const ChannelLine& line, ChannelSizes sizes) {
  for (size_t c = 0; c < sizes.times.size(); ++c) {
    const double slope = line.slope[c % line.slope.size()];
    sizes.add[c] = slope * sizes.add[c] - line.offset[c % line.offset.size()];
    sizes.times[c] /= slope;
  }
  return sizes;
}
class OperandSizer {
 public:
  OperandSizer(Graph& g, const SeenRanges& seen, const FloatPorts& ports)
      : g_(g), seen_(seen), ports_(ports) {}

  int run() {
    std::vector<ValueId> read;
    for (const Node& node : g_.nodes)
      if (!node.inputs.empty() && sums_channels(g_, node, node.inputs[0]))
        read.push_back(node.inputs[0]);
    std::ranges::sort(read);
    read.erase(std::unique(read.begin(), read.end()), read.end());
    const int changed =
        static_cast<int>(std::ranges::count_if(read, [&](ValueId v) { return size_channels(v); }));
    std::vector<ValueId> made;
    for (const Node& node : g_.nodes)
      if (node.outputs.size() == 1 && !is_view(node) && plain_line(g_, node))
        made.push_back(node.outputs[0]);
    return changed +
           static_cast<int>(std::ranges::count_if(made, [&](ValueId v) { return take_line(v); }));
  }

  int put_together() {
    std::vector<ValueId> made;
    const std::vector<bool> is_moved = moved_to_outputs(g_, ports_);
    for (const Node& node : g_.nodes)
      if (node.outputs.size() == 1 && is_moved[node.outputs[0]]) made.push_back(node.outputs[0]);
    std::ranges::reverse(made);
    return static_cast<int>(
        std::ranges::count_if(made, [&](ValueId v) { return leave_in_float(v); }));
  }

 private:
  const ChannelTrees& trees() {
    if (!trees_) trees_ = std::make_unique<ChannelTrees>(g_, seen_, ports_);
    return *trees_;
  }
  NodeId maker_of(ValueId v) const {
    const auto makes = [&](const Node& node) {
      return std::ranges::find(node.outputs, v) != node.outputs.end();
    };
    return static_cast<NodeId>(std::ranges::find_if(g_.nodes, makes) - g_.nodes.begin());
  }

  // ---- which sizes

  bool size_channels(ValueId y) {
    const Uses& uses = trees().uses();
    if (uses.output_uses[y] != 0 || uses.readers[y].empty() || !seen_.of(y)) return false;
    if (trees().inputs().may_be_float(y) && channels_of(g_, y) <= kFewChannels)
      return false;  // one affine is enough
    bool is_padded_somewhere = false;
    for (const NodeId n : uses.readers[y]) {
      if (!sums_channels(g_, g_.nodes[n], y)) return false;
      is_padded_somewhere = is_padded_somewhere || is_padded(g_.nodes[n]);
    }
    const LayerOperand operand = trees().operand_of(y, is_padded_somewhere);
    if (uses.producer[operand.value] < 0) return false;
    Tree tree = trees().look_through(g_.nodes[uses.producer[operand.value]]);
    if (tree.form != Tree::concat && !has(tree.channels, Made::input)) return false;
    for (Channel& c : tree.channels) c.may_move = c.may_move && !is_padded_somewhere;
    Interval to;
    const auto all = sizes_of(operand.value, seen_.channels(operand.value), tree.channels, to);
    if (!all) return false;
    std::vector<double> now, own = own_steps(to, *all);
    for (size_t c = 0; c < own.size(); ++c) {
      const double slope = std::abs(operand.line.slope[c % operand.line.slope.size()]);
      now.push_back(tree.channels[c].step * slope), own[c] *= slope;
    }
    if (coarsest(y, now, own) < kCoarse) return false;
    const auto some =
        sizes_of(operand.value, seen_.channels_to_size(operand.value), tree.channels, to);
    const ChannelSizes& sizes = some ? *some : *all;
    const ChannelSizes read = behind(operand.line, sizes);
    ValueId u = give(tree, sizes, operand.value);
    if (g_.type(u).shape != g_.type(y).shape) u = put(reshape_to(g_.type(y).shape), u, y);
    read_at_sizes(y, u, read);
    trees_.reset();
    return true;
  }
  double coarsest(ValueId y, const std::vector<double>& now, const std::vector<double>& own) {
    double most = 0;
    for (const NodeId n : trees().uses().readers[y])
      most = std::max(most, coarser(g_, g_.nodes[n], now, own));
    return most;
  }

  // A line whose result is of one size, and what it is made of is not: in front of it that becomes
  // of one size.
  bool take_line(ValueId y) {
    const Uses& uses = trees().uses();
    const NodeId maker = uses.producer[y];
    if (maker < 0 || !seen_.of(y) || uses.readers[y].empty() || uses.output_uses[y] != 0 ||
        trees().inputs().may_be_float(y))
      return false;
    const Tree tree = trees().look_through(g_.nodes[maker]);
    if (tree.form != Tree::line || !has(tree.channels, Made::input)) return false;
    double coarsest = 0;
    for (const Channel& c : tree.channels) coarsest = std::max(coarsest, c.step);
    if (coarsest < kCoarse * seen_.step(y)) return false;
    const std::vector<double> none(tree.channels.size(), 0), one(tree.channels.size(), 1);
    const ValueId u = give_before(tree, {none, one, std::vector<bool>(one.size())});
    for (Node& node : g_.nodes) std::ranges::replace(node.inputs, y, u);
    trees_.reset();
    return true;
  }

  // All channels get the size of the largest that nothing can be done about; without one, that of
  // the largest. Those of one layer stay as they are beside each other: how far the small ones go
  // is what samples say least of.
  std::optional<ChannelSizes> sizes_of(ValueId y, std::vector<Interval> ranges, Channels& channels,
                                       Interval& to) const {
    const std::vector<Interval> all = seen_.channels(y);
    if (ranges.size() != channels.size()) return std::nullopt;
    for (size_t c = 0; c < channels.size(); ++c)
      if (channels[c].made == Made::other) ranges[c] = all[c];
    const std::vector<Interval> wholes = wholes_of(ranges, channels);
    std::optional<Interval> of_others;
    bool is_positive = true;  // all that does not move; of what moves to there, later data also
                              // lies below what was seen
    for (size_t c = 0; c < channels.size(); ++c) {
      const bool is_far = with_zero(ranges[c]).span() >= 2 * kCoarse * ranges[c].span();
      if (channels[c].made == Made::layer && !is_far) channels[c].may_move = false;
      if (channels[c].made == Made::other) channels[c].may_move = false, ranges[c] = wholes[c];
      is_positive = is_positive && (ranges[c].low >= 0 || channels[c].may_move);
      if (channels[c].made == Made::other && (!of_others || wholes[c].span() > of_others->span()))
        of_others = wholes[c];
    }
    to = of_others.value_or(balanced(ranges, false));
    if (!(to.span() > 0)) return std::nullopt;
    constexpr double kBelow = 0.1;
    is_positive = is_positive && !of_others;
    if (is_positive) to.low = 0;
    give_room(ranges, channels, of_others.has_value());
    const ChannelSizes moved =
        sizes_to(is_positive ? Interval{kBelow * to.high, to.high} : to, ranges, true);
    const ChannelSizes together = sizes_to(to, wholes, false);
    ChannelSizes sizes = sizes_to(to, ranges, false);
    constexpr double kSmall = 4;
    for (size_t c = 0; c < channels.size(); ++c) {
      if (channels[c].made == Made::other && sizes.times[c] < kCoarse) sizes.times[c] = 1;
      if (channels[c].made == Made::layer)
        sizes.times[c] = std::max(together.times[c], sizes.times[c] / kSmall);
      if (channels[c].may_move) sizes.add[c] = moved.add[c], sizes.times[c] = moved.times[c];
    }
    return sizes;
  }
  // By channel, the range of all that come from the same value.
  static std::vector<Interval> wholes_of(const std::vector<Interval>& ranges,
                                         const Channels& channels) {
    std::vector<Interval> wholes(ranges.size());
    for (size_t from = 0, end = 0; from < channels.size(); from = end) {
      Interval whole = with_zero(ranges[from]);
      for (; end < channels.size() && channels[end].leaf == channels[from].leaf; ++end)
        whole = {std::min(whole.low, ranges[end].low), std::max(whole.high, ranges[end].high)};
      for (size_t c = from; c < end; ++c) wholes[c] = whole;
    }
    return wholes;
  }
  // What others or all together reach says nothing of how far each column of an input goes.
  void give_room(std::vector<Interval>& ranges, const Channels& channels, bool has_others) const {
    const double beyond = has_others ? 1.1 : 1;
    for (size_t c = 0; c < channels.size(); ++c) {
      if (channels[c].made != Made::input) continue;
      std::vector<Interval> one{ranges[c]};
      with_room(one, beyond * (1 + room_of(*seen_.of(channels[c].leaf), channels.size())) - 1);
      ranges[c] = one[0];
    }
  }

  // ---- outputs

  // What is made for an output of operands that have inputs among them, where its steps are coarse
  // for a channel or for an operand.
  bool leave_in_float(ValueId y) {
    if (!seen_.of(y) || g_.type(y).elements() > kMaxInFloat || trees().inputs().may_be_float(y))
      return false;
    const Tree tree = trees().look_through(g_.nodes[maker_of(y)]);
    if (!has(tree.channels, Made::input) || !can_be_float(tree)) return false;
    double own = std::numeric_limits<double>::infinity(), now = 0;
    for (const Interval& r : seen_.channels(y))
      if (r.span() > 0) own = std::min(own, step_of(with_zero(r)));
    for (const Channel& c : tree.channels) now = std::max(now, c.step);
    if (now < kCoarse * own) return false;
    make_float(tree, y);
    trees_.reset();
    return true;
  }
  bool can_be_float(const Tree& tree) const {
    if (tree.form == Tree::input || tree.form == Tree::layer || tree.form == Tree::other)
      return true;
    const Node& node = g_.nodes[maker_of(tree.value)];
    const Bounds* bounds = bounds_of(node.op);
    const bool is_plain = only_moves(node) || is_product(node.op) || is_plain_sum(node.op);
    return is_plain && tree.form != Tree::product && (!bounds || bounds->none()) &&
           std::ranges::all_of(tree.parts, [&](const Tree& part) { return can_be_float(part); });
  }
  void make_float(const Tree& tree, ValueId reader) {
    const ValueId v = tree.value;
    for (const Tree& part : tree.parts) make_float(part, v);
    if (!tree.parts.empty()) return;
    if (tree.form == Tree::layer) return leave_as_float(g_, v, seen_);
    const NodeId at = maker_of(reader);
    const ValueId u = tree.form == Tree::input ? sized_end(g_, *tree.chain, unchanged_sizes(), at)
                                               : add_affine(g_, v, {{1}, {0}}, unchanged_sizes(),
                                                            at, g_.nodes[at].origin);
    std::ranges::replace(g_.nodes[maker_of(reader)].inputs, v, u);
  }

  // ---- writing

  // The value with these sizes, for the node that makes `reader`.
  ValueId give(const Tree& tree, const ChannelSizes& sizes, ValueId reader) {
    const ValueId v = tree.value;
    if (tree.form == Tree::input) return sized_end(g_, *tree.chain, sizes, maker_of(reader));
    if (tree.form == Tree::other) return give_other(v, sizes, reader);
    if (tree.form == Tree::layer) make_sized(g_, g_.nodes[maker_of(v)], sizes);
    const ValueId u = tree.form == Tree::line ? give_before(tree, sizes) : v;
    if (tree.form != Tree::line && tree.form != Tree::layer) give_operands(tree, sizes);
    if (v != reader) read_at_sizes(v, u, sizes);
    return u;
  }
  void read_at_sizes(ValueId v, ValueId u, const ChannelSizes& sizes) {
    for (Node& layer : g_.nodes)
      if (sums_channels(g_, layer, v)) layer.inputs[0] = u, read_sized(g_, layer, sizes);
  }
  void give_operands(const Tree& tree, const ChannelSizes& sizes) {
    const ValueId v = tree.value;
    size_t from = 0;
    for (size_t k = 0; k < tree.parts.size(); ++k) {
      const Tree& part = tree.parts[k];
      ChannelSizes own =
          tree.form == Tree::concat ? part_of(sizes, from, part.channels.size()) : sizes;
      from += part.channels.size();
      if (tree.form == Tree::sum) own = sizes_in_sum(tree, k, sizes);
      const ValueId u = give(part, own, v);
      std::ranges::replace(g_.nodes[maker_of(v)].inputs, part.value, u);
    }
  }
  // One of the operands moves.
  static ChannelSizes sizes_in_sum(const Tree& sum, size_t k, ChannelSizes sizes) {
    for (size_t c = 0; c < sizes.add.size(); ++c) {
      const size_t moving = sum.parts[0].channels[c].may_move ? 0 : 1;
      sizes.add[c] = k == moving ? sizes.add[c] / (k == 0 ? 1 : sum.alpha) : 0;
    }
    return sizes;
  }
  ValueId give_before(const Tree& tree, const ChannelSizes& sizes) {
    const Bounds* bounds = bounds_of(g_.nodes[maker_of(tree.value)].op);
    const bool is_bounded = bounds && !bounds->none();
    ValueId u = give(tree.parts[0], in_front(tree.through, sizes), tree.value);
    if (g_.type(u).shape != g_.type(tree.value).shape)
      u = put(reshape_to(g_.type(tree.value).shape), u, tree.value);
    return is_bounded ? put(relu(), u, tree.value) : u;
  }
  // Instead of what makes `old`, of its type.
  ValueId put(const Op& op, ValueId x, ValueId old) {
    const ValueId y =
        g_.add_value(g_.values[old].name + ".sized", Type{DType::f32, g_.type(old).shape, {}});
    const NodeId at = maker_of(old);
    g_.nodes.insert(g_.nodes.begin() + at, Node{op, {x}, {y}, g_.nodes[at].origin});
    return y;
  }
  ValueId give_other(ValueId v, const ChannelSizes& sizes, ValueId reader) {
    const double factor = sizes.times[0];
    const bool is_uniform =
        std::ranges::all_of(sizes.times, [&](double t) { return t == factor; }) &&
        std::ranges::all_of(sizes.add, [](double a) { return a == 0; });
    if (is_uniform && factor == 1) return v;
    const NodeId at = maker_of(reader);
    const Origin origin = g_.nodes[at].origin;
    if (!is_uniform) return add_affine(g_, v, {{1}, {0}}, sizes, at, origin);
    const ValueId u = g_.add_value(g_.values[v].name + ".sized", Type(g_.type(v)));
    g_.nodes.insert(g_.nodes.begin() + at, Node{times(factor), {v}, {u}, origin});
    return u;
  }

  Graph& g_;
  const SeenRanges& seen_;
  const FloatPorts& ports_;
  std::unique_ptr<ChannelTrees> trees_;
};

}  // namespace

int put_together_in_float(Graph& g, const SeenRanges& seen, const FloatPorts& ports) {
  return OperandSizer(g, seen, ports).put_together();
}
int size_operands(Graph& g, const SeenRanges& seen, const FloatPorts& ports) {
  return OperandSizer(g, seen, ports).run();
}

}  // namespace deuteron
