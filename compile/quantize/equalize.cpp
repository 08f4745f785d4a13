// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/equalize.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "compile/quantize/channel_trees.h"
#include "ops/families.h"

namespace deuteron {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
// A channel that is (nearly) always zero is not made larger than this many times.
constexpr float kMostGain = 64;
constexpr float kMostPowerUnderBounds = 0.5f;

bool scales_freely(const Bounds& b) {
  return b.high == kInfinity && (b.low == 0 || b.low == -kInfinity);
}

// Bounds that a channel can be scaled under as long as none of its values reaches them: those of
// relu6, or as far on both sides.
bool scales_within(const Bounds& b) {
  return b.high < kInfinity && b.high > 0 && (b.low == 0 || b.low == -b.high);
}

bool is_depthwise(const Graph& g, const Node& node, const Conv2d& conv) {
  return static_cast<size_t>(conv.groups) == channels_of(g, node.inputs[0]) &&
         channels_of(g, node.inputs[1]) == 1;
}

bool has_constant_parameters(const Graph& g, const Node& node) {
  return std::all_of(node.inputs.begin() + 1, node.inputs.end(),
                     [&](ValueId v) { return g.is_constant(v); });
}

// Values whose channels have one factor, found by walking the graph once. An operator that says
// nothing here fixes all it touches.
class ChannelGroups {
 public:
  ChannelGroups(const Graph& g, Equalize which)
      : g_(g),
        which_(which),
        parent_(g.values.size()),
        fixed_(g.values.size(), false),
        bound_(g.values.size(), kInfinity) {
    std::iota(parent_.begin(), parent_.end(), 0);
    for (const auto* ports : {&g.inputs, &g.outputs})
      for (const Port& port : *ports) fix(port.value);
    for (size_t v = 0; v < g.values.size(); ++v)
      if (g.is_constant(static_cast<ValueId>(v)) || channels_of(g, static_cast<ValueId>(v)) == 0)
        fix(static_cast<ValueId>(v));
    for (const Node& node : g.nodes)
      if (!std::visit([&](const auto& op) { return place(node, op); }, node.op)) fix_all(node);
  }
  ValueId group_of(ValueId v) const {
    while (parent_[v] != v) v = parent_[v];
    return v;
  }
  bool can_scale(ValueId v) const { return !fixed_[group_of(v)]; }
  // The smallest number that bounds a value of the group; infinite: none does.
  float bound_of(ValueId v) const { return bound_[group_of(v)]; }

 private:
  // Whether the operator was understood.
  bool place(const Node& node, const auto&) {
    const Bounds* bounds = bounds_of(node.op);
    return facts_of(node.op).family == Family::pool && (!bounds || scales_freely(*bounds)) &&
           tie(node);
  }
  bool place(const Node& node, const Conv2d& conv) {
    if (!has_constant_parameters(g_, node)) return false;
    const ValueId x = node.inputs[0], y = node.outputs[0];
    if (!is_depthwise(g_, node, conv) && (conv.groups != 1 || which_ == Equalize::depthwise))
      fix(x);
    float& bound = bound_[group_of(y)];
    if (scales_within(conv.bounds)) bound = std::min(bound, conv.bounds.high);
    else if (!scales_freely(conv.bounds)) fix(y);
    return true;
  }
  bool place(const Node& node, const Linear&) {
    if (!g_.is_constant(node.inputs[1]) || which_ == Equalize::depthwise) return false;
    fix(node.outputs[0]);
    return true;
  }
  bool place(const Node& node, const Add& add) {
    if (!scales_freely(add.bounds)) return false;
    for (const ValueId v : node.inputs)
      if (g_.type(v).shape != g_.type(node.outputs[0]).shape) return false;
    return tie(node);
  }
  bool place(const Node& node, const Pad& pad) {
    return pad.value == 0 && pad.before.back() == 0 && pad.after.back() == 0 && tie(node);
  }
  bool place(const Node& node, const Reduce& reduce) {
    return reduce.axes.back() + 1 < g_.type(node.inputs[0]).rank() && tie(node);
  }
  bool place(const Node& node, const Resize2d&) { return tie(node); }
  bool place(const Node& node, const Clamp& clamp) {
    return scales_freely(clamp.bounds) && tie(node);
  }
  // The last axis stays the last one when its extent does.
  bool place(const Node& node, const Reshape&) {
    return channels_of(g_, node.inputs[0]) == channels_of(g_, node.outputs[0]) && tie(node);
  }

  void fix(ValueId v) { fixed_[group_of(v)] = true; }
  void fix_all(const Node& node) {
    for (const auto* list : {&node.inputs, &node.outputs})
      for (const ValueId v : *list) fix(v);
  }
  bool tie(const Node& node) {
    for (const ValueId v : node.inputs) {
      const ValueId a = group_of(v), b = group_of(node.outputs[0]);
      parent_[a] = b;
      fixed_[b] = fixed_[a] || fixed_[b];
      bound_[b] = std::min(bound_[a], bound_[b]);
    }
    return true;
  }

  const Graph& g_;
  Equalize which_;
  std::vector<ValueId> parent_;
  std::vector<bool> fixed_;  // by group
  std::vector<float> bound_;
};

// The largest magnitude of each channel, over the values of each group that can be scaled.
std::map<ValueId, std::vector<float>> ranges_of(const Graph& g, const ChannelGroups& groups,
                                                const std::vector<Observation>& observations) {
  std::map<ValueId, std::vector<float>> most;
  for (const Node& node : g.nodes)
    for (const ValueId v : node.outputs) {
      if (!groups.can_scale(v) || observations[v].channel_low.size() != channels_of(g, v)) continue;
      const std::vector<float> of_value = channel_most(observations[v]);
      std::vector<float>& all = most[groups.group_of(v)];
      all.resize(of_value.size());
      for (size_t c = 0; c < all.size(); ++c) all[c] = std::max(all[c], of_value[c]);
    }
  return most;
}

// What the channels of each group are divided by; groups that stay as they are have none.
std::map<ValueId, std::vector<float>> factors_by_group(const Graph& g, const ChannelGroups& groups,
                                                       const std::vector<Observation>& observations,
                                                       float power) {
  std::map<ValueId, std::vector<float>> factors;
  for (const auto& [group, most] : ranges_of(g, groups, observations)) {
    const float bound = groups.bound_of(group),
                all = std::min(*std::ranges::max_element(most), bound);
    if (!(all > 0) || std::ranges::min(most) >= all) continue;
    const float strength = bound < kInfinity ? std::min(power, kMostPowerUnderBounds) : power;
    for (const float m : most)
      factors[group].push_back(std::pow(std::clamp(m / all, 1 / kMostGain, 1.0f), strength));
  }
  return factors;
}

// Multiplies element i by factor_of(i).
void scale(Graph& g, ValueId& v, const auto& factor_of) {
  const std::span<const float> data = g.values[v].constant->as<float>();
  std::vector<float> scaled(data.begin(), data.end());
  for (size_t i = 0; i < scaled.size(); ++i) scaled[i] *= factor_of(i);
  v = g.add_value(g.values[v].name, g.type(v),
                  constant_of(std::move(scaled)));  // the old constant may have other readers
}

}  // namespace

int equalize_channels(Graph& g, const std::vector<Observation>& observations, Equalize which,
                      float power) {
  const ChannelGroups groups(g, which);
  const std::map<ValueId, std::vector<float>> factors =
      factors_by_group(g, groups, observations, power);
  const auto factors_of = [&](ValueId v) -> const std::vector<float>* {
    const auto found = factors.find(groups.group_of(v));
    return found == factors.end() ? nullptr : &found->second;
  };
  for (size_t n = 0; n < g.nodes.size(); ++n) {
    if (!is_layer(g.nodes[n].op)) continue;
    std::vector<ValueId> inputs = g.nodes[n].inputs;
    if (const std::vector<float>* f = factors_of(inputs[0])) {  // what it reads has been divided
      const auto weights = static_cast<size_t>(g.type(inputs[1]).elements());
      // depthwise
      const size_t multiplied = channels_of(g, inputs[1]) == 1 ? weights / f->size() : 1;
      scale(g, inputs[1], [&](size_t i) { return (*f)[i / multiplied % f->size()]; });
    }
    if (const std::vector<float>* f = factors_of(g.nodes[n].outputs[0]))
      for (size_t k = 1; k < inputs.size(); ++k) {
        const size_t slice = static_cast<size_t>(g.type(inputs[k]).elements()) / f->size();
        scale(g, inputs[k], [&](size_t i) { return 1 / (*f)[i / slice]; });
      }
    g.nodes[n].inputs = std::move(inputs);
  }
  if (!factors.empty()) remove_dead(g, "not used");
  return static_cast<int>(factors.size());
}

}  // namespace deuteron
