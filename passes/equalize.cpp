#include "passes/equalize.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace deuteron {

// A channel that is (nearly) always zero is not made larger than this many times.
static constexpr float kMostGain = 64;

static bool scales_freely(const Bounds& b) {
  return b.high == std::numeric_limits<float>::infinity() && (b.low == 0 || b.low == -std::numeric_limits<float>::infinity());
}

// The node that makes v, when its channels can be scaled by its weight and bias.
static bool makes_scalable_channels(const Graph& g, const Node& node) {
  const Conv2d* conv = std::get_if<Conv2d>(&node.op);
  if (!conv || !scales_freely(conv->bounds)) return false;
  for (size_t k = 1; k < node.inputs.size(); ++k)
    if (!g.is_constant(node.inputs[k])) return false;
  return true;
}

static bool is_depthwise(const Graph& g, const Node& node) {
  const Conv2d* conv = std::get_if<Conv2d>(&node.op);
  return conv && g.is_constant(node.inputs[1]) && conv->groups == g.type(node.inputs[0]).shape[3] && g.type(node.inputs[1]).shape[3] == 1;
}

// The depthwise convolution that alone reads v, perhaps through a pad with zeros; -1 if there is none.
static NodeId depthwise_reader(const Graph& g, const Uses& uses, ValueId v) {
  if (!uses.has_single_reader(v)) return -1;
  const NodeId n = uses.readers[v][0];
  const Node& node = g.nodes[n];
  if (const Pad* pad = std::get_if<Pad>(&node.op)) {
    const bool keeps_channels = pad->before.back() == 0 && pad->after.back() == 0;
    return pad->value == 0 && keeps_channels ? depthwise_reader(g, uses, node.outputs[0]) : -1;
  }
  return is_depthwise(g, node) ? n : -1;
}

// Multiplies each slice of the first axis by its factor.
static void scale_slices(Graph& g, ValueId& v, std::span<const float> factors) {
  const std::span<const float> data = g.values[v].constant->as<float>();
  std::vector<float> scaled(data.begin(), data.end());
  for (size_t i = 0; i < scaled.size(); ++i) scaled[i] *= factors[i / (scaled.size() / factors.size())];
  v = g.add_value(g.values[v].name, g.type(v), constant_of(std::move(scaled)));  // the old constant may have other readers
}

int equalize_depthwise(Graph& g, const std::vector<Observation>& observations, float power) {
  const Uses uses(g);
  int changed = 0;
  for (size_t n = 0; n < g.nodes.size(); ++n) {
    if (!makes_scalable_channels(g, g.nodes[n])) continue;
    const ValueId y = g.nodes[n].outputs[0];
    const NodeId reader = depthwise_reader(g, uses, y);
    if (reader < 0 || observations[y].channel_most.empty()) continue;
    const std::vector<float>& most = observations[y].channel_most;
    const float all = *std::ranges::max_element(most);
    if (!(all > 0)) continue;
    std::vector<float> factor(most.size()), inverse(most.size());
    for (size_t c = 0; c < most.size(); ++c) {
      factor[c] = std::pow(std::max(most[c] / all, 1 / kMostGain), power);
      inverse[c] = 1 / factor[c];
    }
    for (size_t k = 1; k < g.nodes[n].inputs.size(); ++k) scale_slices(g, g.nodes[n].inputs[k], inverse);
    const size_t multiplier = static_cast<size_t>(g.type(g.nodes[reader].inputs[1]).shape[0]) / factor.size();
    std::vector<float> repeated;
    for (const float f : factor) repeated.insert(repeated.end(), multiplier, f);
    scale_slices(g, g.nodes[reader].inputs[1], repeated);
    ++changed;
  }
  if (changed > 0) remove_dead(g, "not used");
  return changed;
}

}  // namespace deuteron
