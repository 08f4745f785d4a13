// SPDX-License-Identifier: Apache-2.0
// Channels that need not be computed go, with the filters that make them and the weights that read
// them. What the program computes stays, to the bit.
#include <algorithm>

#include "compile/compilation.h"
#include "compile/pass.h"
#include "compile/quantize/quantized_weights.h"
#include "compile/simplify/picked_channels.h"
#include "compile/simplify/unneeded_channels.h"
#include "kernels/dense/packing.h"

namespace deuteron {

namespace {

// A node as it will be: its operator, and the constants in the place of its operands.
struct Change {
  NodeId node;
  Op op;
  std::vector<std::pair<size_t, PickedChannels>> constants;
};

class Slimmer {
 public:
  Slimmer(const Graph& g, const ChannelFacts& facts, const UnneededChannels& unneeded)
      : g_(g), facts_(facts), unneeded_(unneeded) {}

  std::vector<Change> changes() {
    std::vector<Change> all;
    for (size_t n = 0; n < g_.nodes.size(); ++n) {
      const Node& node = g_.nodes[n];
      const NodeChannels& c = facts_.nodes[n];
      const bool is_layer = c.layer && c.layer->is_dense();
      if (!(is_layer || c.ties) || !changes_any(node)) continue;
      all.push_back(is_layer ? of_dense(static_cast<NodeId>(n)) : of_ties(static_cast<NodeId>(n)));
    }
    return all;
  }

 private:
  bool changes(ValueId v) const {
    const std::vector<bool>& r = unneeded_.removed()[static_cast<size_t>(v)];
    return std::ranges::find(r, true) != r.end();
  }
  bool changes_any(const Node& node) const {
    return std::ranges::any_of(node.inputs, [&](ValueId v) { return changes(v); }) ||
           changes(node.outputs[0]);
  }

  Change of_dense(NodeId n) const {
    const Node& node = g_.nodes[n];
    const Int8Layer& layer = *facts_.nodes[n].layer;
    const std::vector<i64> channels = unneeded_.kept(node.inputs[0]),
                           filters = unneeded_.kept(node.outputs[0]);
    const UnneededChannels::Layer without = unneeded_.layer_without(n);
    Type weight = g_.type(node.inputs[1]);
    std::vector<int8_t> weights;
    std::vector<i32> bias;
    for (const i64 o : filters) {
      for (i64 t = 0; t < layer.taps; ++t)
        for (const i64 c : channels)
          weights.push_back(
              without.weights[static_cast<size_t>((o * layer.taps + t) * layer.depth + c)]);
      bias.push_back(without.bias[static_cast<size_t>(o)]);
    }
    weight.shape.front() = static_cast<i64>(filters.size()),
    weight.shape.back() = static_cast<i64>(channels.size());
    weight.quant = picked_channels(weight.quant, 0, filters);
    Change change{n, node.op, {}};
    const bool has_bias = node.inputs.size() > 2;
    if (has_bias || std::ranges::any_of(bias, [](i32 b) { return b != 0; })) {
      Type type = has_bias ? g_.type(node.inputs[2]) : Type{DType::s32, {}, new_bias_quant(node)};
      type.shape = {static_cast<i64>(filters.size())},
      type.quant = picked_channels(type.quant, 0, filters);
      change.constants.push_back({2, {std::move(type), constant_of(std::move(bias))}});
    }
    change.constants.push_back({1, {std::move(weight), constant_of(std::move(weights))}});
    return change;
  }

  Quant new_bias_quant(const Node& node) const {
    return bias_quant(g_.type(node.inputs[0]).quant.scale[0], g_.type(node.inputs[1]).quant);
  }

  Change of_ties(NodeId n) const {
    const Node& node = g_.nodes[n];
    const std::vector<i64> from = unneeded_.kept(node.inputs[0]),
                           to = unneeded_.kept(node.outputs[0]);
    Change change{n, with_channels(g_, node, from, to), {}};
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      const GraphValue& v = g_.values[node.inputs[k]];
      if (!v.constant || v.type.elements() == 1) continue;
      const bool is_of_layer = facts_.nodes[n].layer.has_value();
      const i64 axis = is_of_layer ? 0 : v.type.rank() - 1;
      if (is_of_layer || channels_of(v.type) == channels_of(g_.type(node.outputs[0])))
        change.constants.push_back({k, picked_channels(v, axis, to)});
    }
    return change;
  }

  const Graph& g_;
  const ChannelFacts& facts_;
  const UnneededChannels& unneeded_;
};

i64 constant_bytes(const Graph& g) {
  i64 bytes = 0;
  for (const GraphValue& v : g.values) bytes += v.constant ? v.type.bytes() : 0;
  return bytes;
}

std::vector<SlimmedValue> slimmed_values(const Graph& g, const ChannelFacts& facts,
                                         const UnneededChannels& unneeded) {
  std::vector<SlimmedValue> all;
  for (size_t n = 0; n < g.nodes.size(); ++n) {
    const ValueId v = g.nodes[n].outputs.empty() ? -1 : g.nodes[n].outputs[0];
    if (v < 0 || facts.steps[static_cast<size_t>(v)].empty()) continue;
    SlimmedValue s{g.nodes[n].origin, facts.nodes[n].layer.has_value(), channels_of(g.type(v)),
                   unneeded.kept(v)};
    for (i64 c = 0; c < s.channels; ++c) {
      const bool is_constant =
          facts.steps[static_cast<size_t>(v)][static_cast<size_t>(c)].is_constant();
      s.constant += is_constant;
      if (!unneeded.is_removed(v, c) || is_constant) continue;
      ++(facts.like[static_cast<size_t>(v)][static_cast<size_t>(c)] != c ? s.alike : s.unread);
    }
    bool is_smaller = static_cast<i64>(s.kept.size()) < s.channels;
    if (const std::optional<Int8Layer>& layer = facts.nodes[n].layer) {
      const auto depth = layer->is_dense()
                             ? static_cast<i64>(unneeded.kept(g.nodes[n].inputs[0]).size())
                             : layer->depth;
      s.weights = static_cast<i64>(s.kept.size()) * layer->taps * depth;
      is_smaller = is_smaller || depth < layer->depth;
    }
    if (s.constant > 0 || is_smaller) all.push_back(std::move(s));
  }
  return all;
}

void apply(Graph& g, std::vector<Change> changes, const UnneededChannels& unneeded) {
  for (Change& change : changes) {
    g.nodes[change.node].op = std::move(change.op);
    for (auto& [operand, tensor] : change.constants) {
      std::vector<ValueId>& inputs = g.nodes[change.node].inputs;
      const std::string name = operand < inputs.size() ? g.values[inputs[operand]].name
                                                       : g.values[inputs[1]].name + ".bias";
      const ValueId v = g.add_value(name, std::move(tensor.type), std::move(tensor.data));
      if (operand < inputs.size()) inputs[operand] = v;
      else inputs.push_back(v);
    }
  }
  for (size_t v = 0; v < unneeded.removed().size(); ++v)
    if (const std::vector<bool>& r = unneeded.removed()[v]; !r.empty())
      g.values[v].type.shape.back() = std::ranges::count(r, false);
  drop_unreferenced_values(g);
}

}  // namespace

SlimmedFilters slimmed_filters(const Slimming& slimming) {
  SlimmedFilters all;
  for (const SlimmedValue& s : slimming.values) {
    if (!s.is_layer) continue;
    all.left_out += s.channels - static_cast<i64>(s.kept.size());
    all.constant += s.constant, all.alike += s.alike, all.unread += s.unread;
  }
  return all;
}

// Kernels of the CPU compute filters in tiles of four: whole ones take 1 to 2 % fewer instructions
// in MLPerf's visual wake words network than the fewest channels, and 8 more on some cores than 4.
static constexpr i64 kTile = kPackedTile;

void slim(PassContext& pass) {
  Graph& g = pass.graph;
  const ChannelFacts facts(g, pass.target);
  const UnneededChannels unneeded(g, facts, kTile);
  Slimming& decision = pass.result.slimming;
  decision.values = slimmed_values(g, facts, unneeded);
  for (const NodeChannels& c : facts.nodes) decision.filters += c.layer ? c.layer->filters : 0;
  std::vector<Change> changes = Slimmer(g, facts, unneeded).changes();
  if (changes.empty()) return;
  decision.macs_before = macs_of(g), decision.bytes_before = constant_bytes(g);
  apply(g, std::move(changes), unneeded);
  decision.macs_after = macs_of(g), decision.bytes_after = constant_bytes(g);
}

}  // namespace deuteron
