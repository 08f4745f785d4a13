// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/channel_trees.h"

#include <cmath>
#include <limits>

#include "compile/quantize/channel_lines.h"
#include "ops/families.h"

namespace deuteron {
namespace {

// Bounds that a channel of any size keeps.
bool is_relu(const Bounds& b) {
  return b.low == 0 && b.high == std::numeric_limits<float>::infinity();
}

// A channel that stays at zero, and on its side of it, does not behind such a line.
bool moves(const ChannelLine& line) {
  return std::ranges::any_of(line.slope, [](double a) { return a < 0; }) ||
         std::ranges::any_of(line.offset, [](double b) { return b != 0; });
}

// One operand, each channel of which only meets numbers of the same; a pool may see zeros beside
// them.
bool keeps_channels(const Graph& g, const Node& node) {
  const Shape &x = g.type(node.inputs[0]).shape, &y = g.type(node.outputs[0]).shape;
  if (x.empty() || y.empty() || x.back() != y.back()) return false;
  return is_view(node) || facts_of(node.op).family == Family::pool ||
         (node.inputs.size() == 1 && is_homogeneous(node.op));
}

}  // namespace

bool is_view(const Node& node) {
  return only_moves(node) && node.inputs.size() == 1 && facts_of(node.op).values == Values::same;
}

std::optional<PlainLine> plain_line(const Graph& g, const Node& node) {
  Node plain = node;
  if (Bounds* bounds = bounds_of(plain.op)) *bounds = {};
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    if (g.is_constant(node.inputs[k])) continue;
    auto line = line_of(g, plain, node.inputs[k]);
    if (line && channels_of(g, node.outputs[0]) % line->slope.size() == 0)
      return PlainLine{*std::move(line), k};
  }
  return std::nullopt;
}

// Of an operand; a layer whose bounds would move, too, is another where it must move.
Tree ChannelTrees::look(ValueId v, bool must_move) const {
  Tree tree{
      .value = v,
      .channels = Channels(channels_of(g_, v), Channel{Made::other, v, false, seen_.step(v)})};
  const size_t count = tree.channels.size();
  if (seen_.channels(v).size() != count || count == 0 || g_.is_constant(v)) return tree;
  tree.chain = inputs_.chain_to(v);
  if (tree.chain && count % tree.chain->line.slope.size() == 0 && !is_fine_function(*tree.chain)) {
    tree.form = Tree::input;
    const std::vector<double>& rounding = tree.chain->rounding;
    for (size_t c = 0; c < count; ++c)
      tree.channels[c] = {Made::input, v, true,
                          std::max(seen_.step(v), rounding[c % rounding.size()])};
    return tree;
  }
  const NodeId maker = uses_.producer[v];
  const Layers beside = layers_beside(v);
  if (maker < 0 || !beside.is_known || (must_move && beside.any_padded)) return tree;
  const Node& node = g_.nodes[maker];
  if (Tree through = look_through(node, must_move); has(through.channels, Made::input)) {
    for (Channel& c : through.channels) c.may_move = c.may_move && !beside.any_padded;
    return through;
  }
  const bool may_move =
      makes_channels(g_, node) && bounds_of(node.op)->none() && !beside.any_padded;
  if (!makes_channels(g_, node) || (must_move && !may_move)) return tree;
  tree.form = Tree::layer;
  for (Channel& c : tree.channels) c.made = Made::layer, c.may_move = may_move;
  return tree;
}

// It is all of one size, and int8 does for what it is made of.
bool ChannelTrees::is_fine_function(const Chain& chain) const {
  const NodeId maker = uses_.producer[chain.from];
  if (chain.from != chain.end || maker < 0 || only_moves(g_.nodes[maker])) return false;
  const double step = seen_.step(chain.end);
  const auto is_small = [&](const Interval& r) {
    return r.span() > 0 && step >= kCoarse * step_of(with_zero(r));
  };
  return std::ranges::max(chain.rounding) < kCoarse * step &&
         std::ranges::none_of(seen_.channels(chain.end), is_small);
}

ChannelTrees::Layers ChannelTrees::layers_beside(ValueId v) const {
  Layers layers{uses_.output_uses[v] == 0};
  int others = 0;
  for (const NodeId n : uses_.readers[v])
    if (!sums_channels(g_, g_.nodes[n], v)) ++others;
    else layers.any_padded = layers.any_padded || is_padded(g_.nodes[n]);
  layers.is_known = layers.is_known && others == 1;
  return layers;
}

// Without channels: none has a size of its own behind it.
Tree ChannelTrees::look_through(const Node& node, bool must_move) const {
  const Bounds* bounds = node.outputs.size() == 1 ? bounds_of(node.op) : nullptr;
  const bool is_bounded = bounds && !bounds->none();
  if (node.outputs.size() != 1 || node.inputs.empty() ||
      (is_bounded && (must_move || !is_relu(*bounds))))
    return {};
  Tree tree;
  if (facts_of(node.op).storage == Storage::around_operands)
    tree = look_at_operands(node, must_move);
  else if (keeps_channels(g_, node)) tree = look_at_one(node, Tree::kept, 0, must_move);
  else if (const auto line = plain_line(g_, node))
    tree = look_before(node, line->operand, line->line);
  else if (alpha_of_sum(node.op)) tree = look_at_sum(node);
  else if (is_product(node.op)) tree = look_at_product(node);
  tree.value = node.outputs[0];
  if (tree.channels.size() != channels_of(g_, tree.value)) return {};
  for (Channel& c : tree.channels) {
    c.step = std::max(c.step, seen_.step(tree.value));
    if (is_bounded) c.may_move = false;
  }
  return tree;
}

Tree ChannelTrees::look_at_operands(const Node& node, bool must_move) const {
  Tree tree{.form = Tree::concat};
  for (const ValueId v : node.inputs) {
    if (g_.is_constant(v) || !seen_.of(v) || std::ranges::count(node.inputs, v) != 1) return {};
    const Tree& part = tree.parts.emplace_back(look(v, must_move));
    tree.channels.insert(tree.channels.end(), part.channels.begin(), part.channels.end());
  }
  return tree;
}

Tree ChannelTrees::look_at_one(const Node& node, Tree::Form form, size_t operand,
                               bool must_move) const {
  Tree tree{.form = form, .parts = {look(node.inputs[operand], must_move)}};
  tree.channels = tree.parts[0].channels;
  for (Channel& c : tree.channels) c.may_move = c.may_move && is_view(node);
  return tree;
}

Tree ChannelTrees::look_before(const Node& node, size_t operand, const ChannelLine& line) const {
  Tree tree{
      .form = Tree::line, .parts = {look(node.inputs[operand], moves(line))}, .through = line};
  tree.channels = tree.parts[0].channels;
  for (size_t c = 0; c < tree.channels.size(); ++c) {
    Channel& channel = tree.channels[c];
    const double slope = line.slope[c % line.slope.size()];
    if (!std::isfinite(slope) || slope == 0) return {};
    if (moves(line) && !channel.may_move && channel.made != Made::other) return {};
    channel.step *= std::abs(slope);
  }
  return tree;
}

Tree ChannelTrees::look_at_sum(const Node& node) const {
  if (g_.type(node.inputs[0]).shape != g_.type(node.inputs[1]).shape ||
      node.inputs[0] == node.inputs[1])
    return {};
  Tree tree{.form = Tree::sum,
            .parts = {look(node.inputs[0]), look(node.inputs[1])},
            .alpha = *alpha_of_sum(node.op)};
  const Channels &a = tree.parts[0].channels, &b = tree.parts[1].channels;
  if (a.size() != b.size() || tree.alpha == 0) return {};
  for (size_t c = 0; c < a.size(); ++c) {
    const bool is_of_b =
        b[c].made == Made::other || (b[c].made == Made::input && a[c].made != Made::other);
    Channel& channel = tree.channels.emplace_back(is_of_b ? b[c] : a[c]);
    channel.step = std::max(a[c].step, std::abs(tree.alpha) * b[c].step);
    channel.may_move = a[c].may_move || b[c].may_move;
  }
  return tree;
}

// With another, whatever it is.
Tree ChannelTrees::look_at_product(const Node& node) const {
  if (node.inputs[0] == node.inputs[1]) return {};
  for (const size_t k : {0, 1}) {
    if (g_.type(node.inputs[k]).shape != g_.type(node.outputs[0]).shape) continue;
    Tree tree = look_at_one(node, Tree::product, k);
    if (!has(tree.channels, Made::input) || has(tree.channels, Made::other)) continue;
    for (Channel& c : tree.channels) c.step = 0;
    return tree;
  }
  return {};
}

LayerOperand ChannelTrees::operand_of(ValueId y, bool is_padded_somewhere) const {
  LayerOperand operand{y, {{1}, {0}}};
  while (!is_padded_somewhere) {
    const NodeId maker = uses_.producer[operand.value];
    const Bounds* bounds = maker >= 0 ? bounds_of(g_.nodes[maker].op) : nullptr;
    if (maker < 0 || (bounds && !bounds->none()) ||
        (keeps_channels(g_, g_.nodes[maker]) && !is_view(g_.nodes[maker])))
      break;
    const auto plain = plain_line(g_, g_.nodes[maker]);
    const auto is_usable = [](double slope) { return slope != 0 && std::isfinite(slope); };
    if (!plain || !std::ranges::all_of(plain->line.slope, is_usable)) break;
    const ValueId x = g_.nodes[maker].inputs[plain->operand];
    const auto all = composed(plain->line, operand.line);
    if (!all || !uses_.has_single_reader(x) || channels_of(g_, x) != channels_of(g_, y)) break;
    operand = {x, *all};
  }
  return operand;
}

}  // namespace deuteron
