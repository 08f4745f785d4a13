// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/border_outputs.h"

#include <functional>
#include <limits>
#include <numeric>

#include "compile/quantize/channel_lines.h"
#include "compile/quantize/channel_sizes.h"
#include "ops/families.h"

namespace deuteron {

namespace {

// By value: everything that reads it only moves it to float outputs.
std::vector<bool> moved_to_outputs(const Graph& g, const Uses& uses, const FloatPorts& ports) {
  std::vector<bool> only(g.values.size());
  std::vector<i32> float_outputs(g.values.size());
  for (size_t o = 0; o < std::min(ports.outputs.size(), g.user_outputs().size()); ++o)
    if (ports.outputs[o]) ++float_outputs[g.outputs[o].value];
  for (size_t n = g.nodes.size(); n-- > 0;)
    for (const ValueId v : g.nodes[n].outputs) {
      const auto moves_it = [&](NodeId reader) {
        return only_moves(g.nodes[reader]) && only[g.nodes[reader].outputs[0]];
      };
      const bool is_read = float_outputs[v] > 0 || !uses.readers[v].empty();
      only[v] = g.type(v).dtype == DType::f32 && float_outputs[v] == uses.output_uses[v] &&
                is_read && std::ranges::all_of(uses.readers[v], moves_it);
    }
  return only;
}

// What operators make for outputs, in groups that come together on the way.
std::vector<std::vector<ValueId>> output_groups(const Graph& g, const FloatPorts& ports) {
  const std::vector<bool> only = moved_to_outputs(g, Uses(g), ports);
  std::vector<ValueId> group(g.values.size());
  std::iota(group.begin(), group.end(), 0);
  const std::function<ValueId(ValueId)> root = [&](ValueId v) {
    return group[v] == v ? v : group[v] = root(group[v]);
  };
  for (const Node& node : g.nodes)
    if (only_moves(node) && only[node.outputs[0]])
      for (const ValueId v : node.inputs) group[root(v)] = root(node.outputs[0]);
  std::vector<std::vector<ValueId>> groups(g.values.size());
  for (const Node& node : g.nodes)
    if (node.outputs.size() == 1 && only[node.outputs[0]] && !only_moves(node))
      groups[root(node.outputs[0])].push_back(node.outputs[0]);
  std::erase_if(groups, [](const auto& values) { return values.empty(); });
  return groups;
}

std::vector<Node>::iterator maker_of(Graph& g, ValueId v) {
  return std::ranges::find_if(g.nodes, [&](const Node& node) {
    return std::ranges::find(node.outputs, v) != node.outputs.end();
  });
}

// Of a layer, what gives each of its channels a size of its own, if they differ by enough.
std::optional<ChannelSizes> sizes_of_output(const Graph& g, const Node& node,
                                            const SeenRanges& seen) {
  const ValueId y = node.outputs[0];
  std::vector<Interval> ranges = seen.channels(y);
  if (!makes_channels(g, node) || static_cast<i64>(ranges.size()) != g.type(y).shape.back())
    return std::nullopt;
  const bool may_move = bounds_of(node.op)->none();
  // Zero is within the range, unless that makes it much larger. Channels that only lie on other
  // sides of zero are of one size.
  const auto reach_of = [](const Interval& r) { return std::max(-r.low, r.high); };
  const double farthest = reach_of(seen.range(y));
  std::vector<Interval> to_size = seen.channels_to_size(y);
  bool differ = false;
  for (size_t c = 0; c < ranges.size(); ++c) {
    const Interval r = ranges[c], zero = with_zero(r);
    const bool is_far = may_move && r.span() > 0 && zero.span() >= 2 * kCoarse * r.span();
    differ = differ || is_far || (reach_of(zero) > 0 && farthest >= kCoarse * reach_of(zero));
    if (!is_far) ranges[c] = zero, to_size[c] = with_zero(to_size[c]);
  }
  if (!differ || ranges.size() > kFewChannels || !(balanced(ranges, may_move).span() > 0))
    return std::nullopt;
  return sizes_to(balanced(to_size, may_move), to_size, may_move);
}

void leave_as_float(Graph& g, ValueId y, const std::optional<ChannelSizes>& sizes) {
  const auto maker = maker_of(g, y);
  const auto at = static_cast<NodeId>(maker - g.nodes.begin());
  const Origin origin = maker->origin;
  ChannelLine back{{1}, {0}};
  if (sizes) {
    make_sized(g, *maker, *sizes);
    back = {};
    for (const double times : sizes->times) back.slope.push_back(1 / times);
    for (const double add : sizes->add) back.offset.push_back(-add);
  }
  const ValueId u = add_affine(g, y, back, unchanged_sizes(), at + 1, origin);
  for (size_t n = static_cast<size_t>(at) + 2; n < g.nodes.size(); ++n)
    std::ranges::replace(g.nodes[n].inputs, y, u);
  for (Port& port : g.outputs)
    if (port.value == y) port.value = u;
}

}  // namespace

void leave_as_float(Graph& g, ValueId y, const SeenRanges& seen) {
  leave_as_float(g, y, sizes_of_output(g, *maker_of(g, y), seen));
}

std::vector<bool> moved_to_outputs(const Graph& g, const FloatPorts& ports) {
  return moved_to_outputs(g, Uses(g), ports);
}

int scale_outputs(Graph& g, const SeenRanges& seen, const FloatPorts& ports) {
  struct Source {
    ValueId value;
    std::optional<ChannelSizes> sizes;
  };
  std::vector<Source> sources;
  for (const std::vector<ValueId>& group : output_groups(g, ports)) {
    std::vector<Source> mine;
    double least = std::numeric_limits<double>::infinity(), most = 0;
    for (const ValueId y : group) {
      mine.push_back({y, sizes_of_output(g, *maker_of(g, y), seen)});
      if (const double step = seen.step(y); step > 0)
        least = std::min(least, step), most = std::max(most, step);
    }
    const bool differ = most >= kCoarse * least || std::ranges::any_of(mine, [](const Source& s) {
                          return s.sizes.has_value();
                        });
    if (differ) sources.insert(sources.end(), mine.begin(), mine.end());
  }
  for (const Source& source : sources) leave_as_float(g, source.value, source.sizes);
  return static_cast<int>(sources.size());
}

std::vector<bool> border_nodes(const Graph& g) {
  std::vector<bool> is_border(g.nodes.size()), is_function(g.nodes.size());
  std::vector<bool> is_float(g.values.size()),
      is_given(g.values.size());  // is_given: from an input on, too
  for (const Port& port : g.user_inputs()) is_given[port.value] = true;
  for (size_t n = 0; n < g.nodes.size(); ++n) {
    const Node& node = g.nodes[n];
    const auto is_there = [&](ValueId v) { return is_float[v] || g.is_constant(v); };
    const bool is_of_constant =
        is_product(node.op) &&
        std::ranges::any_of(node.inputs, [&](ValueId v) { return g.is_constant(v); });
    is_border[n] = (only_moves(node) || is_plain_sum(node.op) || is_of_constant) &&
                   std::ranges::any_of(node.inputs, [&](ValueId v) { return is_float[v]; }) &&
                   std::ranges::all_of(node.inputs, is_there);
    const auto is_given_or_constant = [&](ValueId v) { return is_given[v] || g.is_constant(v); };
    is_function[n] = (is_of_elements(node) || only_moves(node)) &&
                     std::ranges::all_of(node.inputs, is_given_or_constant) &&
                     std::ranges::any_of(node.inputs, [&](ValueId v) { return is_given[v]; });
    if (is_border[n] || is_float_by_channel(node.op)) is_float[node.outputs[0]] = true;
    if (is_function[n] || is_float[node.outputs[0]]) is_given[node.outputs[0]] = true;
  }
  std::vector<bool> leaves(g.values.size(), true),
      meets_float(g.values.size(), true);  // by all that reads it
  for (const Port& port : g.outputs) meets_float[port.value] = false;
  for (size_t n = g.nodes.size(); n-- > 0;) {
    const Node& node = g.nodes[n];
    is_border[n] = is_border[n] && leaves[node.outputs[0]];
    is_function[n] = is_function[n] && meets_float[node.outputs[0]];
    for (const ValueId v : node.inputs) {
      if (!is_border[n]) leaves[v] = false;
      if (!is_function[n] && !is_float_by_channel(node.op)) meets_float[v] = false;
    }
    is_border[n] = is_border[n] || is_function[n];
  }
  return is_border;
}

}  // namespace deuteron
