// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/border_scales.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compile/quantize/border_inputs.h"
#include "compile/quantize/border_outputs.h"
#include "compile/quantize/channel_lines.h"
#include "compile/quantize/channel_sizes.h"
#include "compile/quantize/sized_operands.h"
#include "compile/quantize/split_layers.h"
#include "ops/families.h"

namespace deuteron {

namespace {

class BorderScales {
 public:
  BorderScales(Graph& g, const SeenRanges& seen, const FloatPorts& ports)
      : g_(g), seen_(seen), ports_(ports) {}

  int scale_inputs() {
    int changed = 0;
    const std::vector<ValueId> sources = BorderInputs(g_, seen_, ports_).sources();
    for (const ValueId v : sources)
      while (scale_input(v)) ++changed;
    return changed;
  }

 private:
  std::vector<NodeId> layers_behind(const Uses& uses, ValueId v) const {
    std::vector<NodeId> layers;
    for (const NodeId n : uses.readers[v])
      if (sums_channels(g_, g_.nodes[n], v)) layers.push_back(n);
    return layers;
  }
  bool any_padded(const std::vector<NodeId>& layers) const {
    return std::ranges::any_of(layers, [&](NodeId n) { return is_padded(g_.nodes[n]); });
  }
  double coarsest(const std::vector<NodeId>& layers, const std::vector<double>& now,
                  const std::vector<double>& own) const {
    double most = 0;
    for (const NodeId n : layers) most = std::max(most, coarser(g_, g_.nodes[n], now, own));
    return most;
  }

  // ---- inputs

  // What is made of an input, with the lines behind it.
  bool scale_input(ValueId v) {
    const BorderInputs inputs(g_, seen_, ports_);
    const Uses uses = live_uses(g_);
    const bool is_output = uses.producer[v] >= 0 && uses.output_uses[v] > 0;
    std::vector<ValueId> ends;
    const auto scaled = [&](const Chain& chain) {
      const bool is_read = !uses.readers[chain.end].empty() || uses.output_uses[chain.end] > 0;
      if (!is_read || std::ranges::find(ends, chain.end) != ends.end()) return false;
      ends.push_back(chain.end);
      return scale_for_layers(uses, chain) || take_lines(uses, chain);
    };
    for (const NodeId first : uses.readers[v])
      if (!is_float_by_channel(g_.nodes[first].op) && scaled(inputs.lines_from(v, first)))
        return true;
    return is_output && scaled(inputs.empty_chain(v, -1));
  }

  bool lines_are_finer(const Chain& chain) const {
    const double shared = seen_.step(chain.end);
    return shared > 0 && std::ranges::max(chain.rounding) >= kCoarse * shared;
  }
  // Each channel has a size of its own: only layers read it, or those of its readers that do.
  bool scale_for_layers(const Uses& uses, const Chain& chain) {
    const ValueId end = chain.end;
    const std::vector<NodeId> layers = layers_behind(uses, end);
    const std::vector<Interval> ranges = seen_.channels(end);
    const double shared = seen_.step(end);
    const bool is_whole = end == chain.from ||
                          (layers.size() == uses.readers[end].size() && uses.output_uses[end] == 0);
    if (layers.empty() || !is_whole || shared == 0 ||
        ranges.size() != static_cast<size_t>(g_.type(end).shape.back()))
      return false;
    if (ranges.size() > kFewChannels || ranges.size() % chain.rounding.size() != 0) return false;
    const bool may_move = !any_padded(layers);
    const auto sizes_of = [&](const std::vector<Interval>& reached) {
      return sizes_to(balanced(reached, may_move), reached, may_move);
    };
    const std::vector<double> own = own_steps(balanced(ranges, may_move), sizes_of(ranges));
    if (lines_are_finer(chain) && coarsest(layers, {shared}, own) < kCoarse) return false;
    std::vector<double> now = chain.rounding;
    for (double& step : now) step = std::max(step, shared);
    if (coarsest(layers, now, own) < kCoarse) return false;
    const ChannelSizes sizes = sizes_of(seen_.channels_to_size(end));
    const ValueId u = sized_end(g_, chain, sizes, chain.first);
    for (Node& node : g_.nodes)
      if (sums_channels(g_, node, end)) node.inputs[0] = u, read_sized(g_, node, sizes);
    return true;
  }
  // The lines, or what they would begin with, are computed in float.
  bool take_lines(const Uses& uses, const Chain& chain) {
    if (!lines_are_finer(chain) && !has_sizes_in_an_output(uses, chain)) return false;
    const Uses all(g_);  // what nothing reads changes with the others
    const NodeId end = all.readers[chain.end].empty() ? static_cast<NodeId>(g_.nodes.size())
                                                      : all.readers[chain.end][0];
    const ValueId u =
        sized_end(g_, chain, unchanged_sizes(), chain.end == chain.from ? end : chain.first);
    for (Node& node : g_.nodes)
      if (!is_float_by_channel(node.op)) std::ranges::replace(node.inputs, chain.end, u);
    for (Port& port : g_.outputs)
      if (port.value == chain.end) port.value = u;
    return true;
  }
  bool has_sizes_in_an_output(const Uses& uses, const Chain& chain) const {
    const ValueId y = chain.end;
    i32 in_float = 0;
    for (size_t o = 0; o < std::min(ports_.outputs.size(), g_.user_outputs().size()); ++o)
      in_float += ports_.outputs[o] && g_.outputs[o].value == y;
    if (uses.producer[y] < 0 || in_float == 0 || in_float != uses.output_uses[y]) return false;
    const std::vector<Interval> ranges = seen_.channels(y);
    const auto is_coarse = [&](const Interval& r) {
      return r.span() > 0 && seen_.step(y) >= kCoarse * step_of(with_zero(r));
    };
    return ranges.size() <= kFewChannels && std::ranges::any_of(ranges, is_coarse);
  }

  Graph& g_;
  const SeenRanges& seen_;
  const FloatPorts& ports_;
};

}  // namespace

int scale_borders(Graph& g, const std::vector<Observation>& observations, const FloatPorts& ports,
                  Borders which, const std::vector<Observation>* reached) {
  std::vector<Observation> all = observations, some = reached ? *reached : observations;
  const SeenRanges seen{all, some};
  int changed = 0;
  while (const int split = split_layers(g, all, some)) changed += split;
  if (which != Borders::inputs) changed += put_together_in_float(g, seen, ports);
  if (which != Borders::outputs) {
    changed += size_operands(g, seen, ports);
    changed += BorderScales(g, seen, ports).scale_inputs();
  }
  if (which != Borders::inputs) changed += scale_outputs(g, seen, ports);
  if (changed > 0) remove_dead(g, "computed with the numbers of the border");
  return changed;
}

}  // namespace deuteron
