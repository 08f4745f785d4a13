// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/border_scales.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compile/quantize/border_outputs.h"
#include "compile/quantize/channel_lines.h"
#include "compile/quantize/channel_sizes.h"
#include "compile/quantize/split_layers.h"
#include "ops/families.h"

namespace deuteron {

namespace {

// Of an input that moves or goes through a function in float: such a function takes some hundred cycles an element.
constexpr i64 kMostInFloat = 16384;

// The lines behind an input, as far as each value has one reader.
struct Chain {
  ValueId from, end;             // may be the same
  ChannelLine line;              // from -> end
  std::vector<double> rounding;  // the coarsest steps on the way to the end, which is not rounded yet, by channel of the line
  Origin origin;
  NodeId first;  // reads `from`
};

// An operand of a concatenation.
struct Part {
  enum Kind { input, layer, other } kind = other;
  std::vector<Interval> ranges;  // of the channels; of another: the whole
  bool may_move = false;
  std::optional<Chain> chain;  // of an input
  ChannelSizes sizes;
};

class BorderScales {
 public:
  BorderScales(Graph& g, const std::vector<Observation>& observations, const FloatPorts& ports)
      : g_(g), seen_{observations}, ports_(ports) {}

  int scale_concats() {
    std::vector<ValueId> results;
    for (const Node& node : g_.nodes)
      if (facts_of(node.op).storage == Storage::around_operands) results.push_back(node.outputs[0]);
    return static_cast<int>(std::ranges::count_if(results, [&](ValueId y) { return scale_operands(y); }));
  }
  int scale_inputs() {
    int changed = 0;
    for (const ValueId v : sources())
      while (scale_input(v)) ++changed;
    return changed;
  }

  int scale_sums() {
    std::vector<ValueId> results;
    for (const NodeId n : sums_at_outputs(g_, ports_)) results.push_back(g_.nodes[n].outputs[0]);
    return static_cast<int>(std::ranges::count_if(results, [&](ValueId y) { return scale_sum(y); }));
  }

 private:
  bool is_float_input(ValueId v) const {
    for (size_t i = 0; i < std::min(ports_.inputs.size(), g_.user_inputs().size()); ++i)
      if (g_.inputs[i].value == v) return ports_.inputs[i] && g_.type(v).dtype == DType::f32 && g_.type(v).rank() > 0 && seen_.of(v);
    return false;
  }
  std::vector<Node>::iterator maker_of(ValueId v) {
    return std::ranges::find_if(g_.nodes, [&](const Node& node) { return std::ranges::find(node.outputs, v) != node.outputs.end(); });
  }
  std::vector<NodeId> layers_behind(const Uses& uses, ValueId v) const {
    std::vector<NodeId> layers;
    for (const NodeId n : uses.readers[v])
      if (sums_channels(g_, g_.nodes[n], v)) layers.push_back(n);
    return layers;
  }
  bool any_padded(const std::vector<NodeId>& layers) const {
    return std::ranges::any_of(layers, [&](NodeId n) { return is_padded(g_.nodes[n]); });
  }
  double coarsest(const std::vector<NodeId>& layers, const std::vector<double>& now, const std::vector<double>& own) const {
    double most = 0;
    for (const NodeId n : layers) most = std::max(most, coarser(g_, g_.nodes[n], now, own));
    return most;
  }

  // ---- inputs

  // Of a float input, or of a part of one or one in another order, which is moved in float where
  // that pays: the input.
  std::optional<ValueId> input_of(const Uses& uses, ValueId v) const {
    for (; uses.producer[v] >= 0; v = g_.nodes[uses.producer[v]].inputs[0]) {
      const Node& node = g_.nodes[uses.producer[v]];
      const Values values = facts_of(node.op).values;
      const bool only_moves = is_movement(node.op) && node.inputs.size() == 1 &&
                              (values == Values::moved || values == Values::same);
      if (!only_moves || g_.type(v).elements() > kMostInFloat || !seen_.of(v)) return std::nullopt;
    }
    return is_float_input(v) ? std::optional(v) : std::nullopt;
  }
  // The inputs first.
  std::vector<ValueId> sources() const {
    const Uses uses(g_);
    std::vector<ValueId> all;
    for (const Port& port : g_.user_inputs()) all.push_back(port.value);
    for (const Node& node : g_.nodes)
      if (node.outputs.size() == 1 && input_of(uses, node.outputs[0]))
        all.push_back(node.outputs[0]);
    return all;
  }

  // Rounded with all of the input.
  Chain empty_chain(const Uses& uses, ValueId v, NodeId first) const {
    const double step = seen_.step(input_of(uses, v).value_or(v));
    return {v, v, {{1}, {0}}, {step}, g_.nodes[first].origin, first};
  }

  // False: what the node makes is no line of the chain's end.
  bool extend(Chain& chain, const Node& node) const {
    const auto line = line_of(g_, node, chain.end);
    auto all = line ? composed(chain.line, *line) : std::nullopt;
    const auto is_usable = [](double slope) { return slope != 0 && std::isfinite(slope); };
    if (!all || !std::ranges::all_of(all->slope, is_usable)) return false;
    const size_t channels = all->slope.size(), before = chain.rounding.size();
    if (g_.type(chain.from).elements() % static_cast<i64>(channels) != 0) return false;
    std::vector<double> rounding(channels);
    for (size_t c = 0; c < channels; ++c)
      rounding[c] = std::max(chain.rounding[c % before], seen_.step(chain.end)) * std::abs(line->slope[c % line->slope.size()]);
    chain.rounding = std::move(rounding);
    chain.line = *std::move(all);
    chain.end = node.outputs[0];
    chain.origin = merge(chain.origin, node.origin);
    return true;
  }
  Chain lines_from(const Uses& uses, ValueId x, NodeId first) const {
    Chain chain = empty_chain(uses, x, first);
    for (NodeId n = first; n >= 0 && extend(chain, g_.nodes[n]);)
      n = uses.has_single_reader(chain.end) ? uses.readers[chain.end][0] : -1;
    return chain;
  }

  bool scale_input(ValueId v) {
    const Uses uses(g_);
    if (!input_of(uses, v)) return false;
    std::vector<ValueId> ends;
    for (const NodeId first : uses.readers[v]) {
      if (is_float_by_channel(g_.nodes[first].op)) continue;
      const Chain chain = lines_from(uses, v, first);
      const bool is_read = !uses.readers[chain.end].empty() || uses.output_uses[chain.end] > 0;
      if (!is_read || std::ranges::find(ends, chain.end) != ends.end()) continue;
      ends.push_back(chain.end);
      if (scale_for_layers(uses, chain) || take_function(uses, chain)) return true;
      if (take_lines(uses, chain)) return true;
    }
    return false;
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
    const bool is_whole = end == chain.from || (layers.size() == uses.readers[end].size() && uses.output_uses[end] == 0);
    if (layers.empty() || !is_whole || shared == 0 || ranges.size() != static_cast<size_t>(g_.type(end).shape.back())) return false;
    if (ranges.size() > kFewChannels || ranges.size() % chain.rounding.size() != 0) return false;
    const bool may_move = !any_padded(layers);
    const Interval to = balanced(ranges, may_move);
    const ChannelSizes sizes = sizes_to(to, ranges, may_move);
    const std::vector<double> own = own_steps(to, sizes);
    if (lines_are_finer(chain) && coarsest(layers, {shared}, own) < kCoarse) return false;
    std::vector<double> now = chain.rounding;
    for (double& step : now) step = std::max(step, shared);
    if (coarsest(layers, now, own) < kCoarse) return false;
    const ValueId u = sized_end(chain, sizes, chain.first);
    for (Node& node : g_.nodes)
      if (sums_channels(g_, node, end)) node.inputs[0] = u, read_sized(g_, node, sizes);
    return true;
  }
  // The lines are computed in float; without lines it is a slice.
  bool take_lines(const Uses& uses, const Chain& chain) {
    if (!lines_are_finer(chain)) return false;
    const bool is_empty = chain.end == chain.from;
    const NodeId at = is_empty ? uses.readers[chain.end][0] : chain.first;
    const ValueId u = sized_end(chain, unchanged_sizes(), at);
    for (Node& node : g_.nodes)
      if (!is_float_by_channel(node.op)) std::ranges::replace(node.inputs, chain.end, u);
    for (Port& port : g_.outputs)
      if (port.value == chain.end) port.value = u;
    return true;
  }
  // A function of each element behind the lines stays in float where the steps of its operand would be too coarse for it.
  bool take_function(const Uses& uses, const Chain& chain) {
    const bool is_empty = chain.end == chain.from;
    if (!is_empty && !uses.has_single_reader(chain.end)) return false;
    const NodeId n = is_empty ? chain.first : uses.readers[chain.end][0];
    const ValueId y = g_.nodes[n].outputs[0];
    if (facts_of(g_.nodes[n].op).family != Family::elementwise || g_.type(y).elements() > kMostInFloat || !seen_.of(y)) return false;
    const double rounding = std::max(std::ranges::max(chain.rounding), is_empty ? 0 : seen_.step(chain.end));
    const double error = rounding > 0 ? error_behind(g_.nodes[n].op, *seen_.of(chain.end), *seen_.of(y), rounding) : 0;
    if (error < kCoarse * seen_.step(y) / std::sqrt(12.0)) return false;
    // What is read of the result first gets its sizes.
    const auto next = uses.has_single_reader(y) ? uses.readers[y][0] : -1;
    const bool is_sized = next >= 0 && scale_for_layers(uses, lines_from(uses, y, next));
    const auto at = static_cast<NodeId>(maker_of(y) - g_.nodes.begin());
    const Origin origin = g_.nodes[at].origin;
    if (!is_sized) {
      const ValueId u = add_affine(g_, y, {{1}, {0}}, unchanged_sizes(), at + 1, origin);
      for (size_t k = static_cast<size_t>(at) + 2; k < g_.nodes.size(); ++k) std::ranges::replace(g_.nodes[k].inputs, y, u);
      for (Port& port : g_.outputs)
        if (port.value == y) port.value = u;
    }
    const ValueId x = sized_end(chain, unchanged_sizes(), at);
    maker_of(y)->inputs[0] = x;
    return true;
  }
  // Numbers of x, as many for each power of two of its distance from zero as along its range: a logarithm shows the smallest.
  static std::vector<float> grid_of(const Observation& x) {
    constexpr int kAlong = 2048, kPowers = 40, kOfEach = 32;
    std::vector<float> grid;
    for (int i = 0; i <= kAlong; ++i) grid.push_back(static_cast<float>(std::lerp(double{x.low}, double{x.high}, static_cast<double>(i) / kAlong)));
    for (const double end : {x.low, x.high})
      for (int i = 0; i < kPowers * kOfEach; ++i)
        if (const double at = end * std::exp2(-static_cast<double>(i) / kOfEach); at >= x.low && at <= x.high) grid.push_back(static_cast<float>(at));
    return grid;
  }
  static std::vector<float> values_of(const Op& f, const std::vector<float>& x) {
    const Type type{DType::f32, {static_cast<i64>(x.size())}, {}};
    std::vector<float> y(x.size());
    execute(f, std::vector<HostTensor>{{&type, const_cast<float*>(x.data())}}, std::vector<HostTensor>{{&type, y.data()}});
    return y;
  }
  // Root of the mean squared error of y = f(x) that rounding x to such steps makes, where y lies as often as was seen.
  static double error_behind(const Op& f, const Observation& of_x, const Observation& of_y, double step) {
    const std::vector<float> x = grid_of(of_x), y = values_of(f, x);
    std::vector<float> rounded;
    for (const float v : x)
      rounded.push_back(static_cast<float>(std::clamp(std::nearbyint(v / step) * step, double{of_x.low}, double{of_x.high})));
    const std::vector<float> of_rounded = values_of(f, rounded);
    std::vector<double> squares(of_y.bins.size()), points(of_y.bins.size());
    const double per_unit = static_cast<double>(of_y.bins.size()) / std::max(1e-30, static_cast<double>(of_y.high) - of_y.low);
    for (size_t i = 0; i < x.size(); ++i) {
      const double error = std::clamp(double{of_rounded[i]}, double{of_y.low}, double{of_y.high}) - y[i], at = (y[i] - of_y.low) * per_unit;
      if (!std::isfinite(error) || at < 0 || at > static_cast<double>(of_y.bins.size())) continue;
      const size_t bin = std::min(static_cast<size_t>(at), of_y.bins.size() - 1);
      squares[bin] += error * error, ++points[bin];
    }
    double sum = 0, count = 0;
    for (size_t b = 0; b < points.size(); ++b)
      if (points[b] > 0) {
        const auto n = static_cast<double>(of_y.bins[b]);
        sum += n * squares[b] / points[b], count += n;
      }
    return count > 0 ? std::sqrt(sum / count) : 0;
  }

  // What is moved of an input, once more before node `at`, which becomes another: what else reads
  // it may be int8.
  ValueId moved_again(const Uses& uses, ValueId v, NodeId& at) {
    if (uses.producer[v] < 0) return v;
    Node move = g_.nodes[uses.producer[v]];
    move.inputs[0] = moved_again(uses, move.inputs[0], at);
    move.outputs[0] = g_.add_value(g_.values[v].name, Type(g_.type(v)));
    g_.nodes.insert(g_.nodes.begin() + at++, move);
    return move.outputs[0];
  }
  // The end of the chain, its channels of these sizes, from before node `at` on.
  ValueId sized_end(const Chain& chain, const ChannelSizes& sizes, NodeId at) {
    const Shape shape = g_.type(chain.end).shape;
    const ValueId from = moved_again(Uses(g_), chain.from, at);
    const ValueId u = add_affine(g_, from, chain.line, sizes, at, chain.origin);
    if (g_.type(u).shape == shape) return u;
    const ValueId y = g_.add_value(g_.values[u].name, Type{DType::f32, shape, {}});
    g_.nodes.insert(g_.nodes.begin() + at + 1, Node{reshape_to(shape), {u}, {y}, chain.origin});
    return y;
  }

  // ---- sums of an input and what a layer makes of it, for an output

  bool scale_sum(ValueId y) {
    const Node& sum = *maker_of(y);
    const Uses uses(g_);
    for (size_t k = 0; k < 2; ++k) {
      const ValueId x = sum.inputs[k], v = sum.inputs[1 - k];
      const NodeId maker = uses.producer[v];
      const bool is_made = maker >= 0 && uses.has_single_reader(v) && makes_channels(g_, g_.nodes[maker]) && seen_.of(v);
      if (!is_made || g_.type(x).shape != g_.type(y).shape || g_.type(v).shape != g_.type(y).shape || !seen_.of(y)) continue;
      const std::optional<Chain> chain = chain_to(uses, x);
      if (!chain || g_.type(y).elements() > kMostInFloat) continue;
      double own = std::numeric_limits<double>::infinity();
      for (const Interval& r : seen_.channels(v))
        if (r.span() > 0) own = std::min(own, step_of(with_zero(r)));
      if (!(std::max(seen_.step(y), std::ranges::max(chain->rounding)) >= kCoarse * own)) continue;
      const auto at = static_cast<NodeId>(maker_of(y) - g_.nodes.begin());
      maker_of(y)->inputs[k] = sized_end(*chain, unchanged_sizes(), at);
      leave_as_float(g_, v, seen_);
      return true;
    }
    return false;
  }

  // ---- concatenations that layers read

  std::optional<Chain> chain_to(const Uses& uses, ValueId v) const {
    for (const ValueId x : sources()) {
      if (!input_of(uses, x)) continue;
      for (const NodeId first : uses.readers[x]) {
        Chain chain = x == v ? empty_chain(uses, v, first) : lines_from(uses, x, first);
        if (chain.end == v) return chain;
      }
    }
    return std::nullopt;
  }
  Part part_of(const Uses& uses, ValueId v, bool may_move) const {
    Part part;
    part.ranges = seen_.channels(v);
    const NodeId maker = uses.producer[v];
    if (part.ranges.size() == static_cast<size_t>(g_.type(v).shape.back())) {
      part.chain = chain_to(uses, v);
      if (part.chain && part.ranges.size() % part.chain->line.slope.size() == 0)
        part.kind = Part::input, part.may_move = may_move;
      else if (maker >= 0 && uses.has_single_reader(v) && makes_channels(g_, g_.nodes[maker]))
        part.kind = Part::layer, part.may_move = may_move && bounds_of(g_.nodes[maker].op)->none();
    }
    if (part.kind == Part::other) part.ranges = {with_zero(seen_.range(v))};
    return part;
  }

  // All operands get the size of the largest that nothing can be done about; without one, that of the largest.
  bool scale_operands(ValueId y) {
    const Node& node = *maker_of(y);
    const std::vector<ValueId> operands = node.inputs;
    const Uses uses(g_);
    const std::vector<NodeId> layers = layers_behind(uses, y);
    i64 channels = 0;
    for (const ValueId v : operands) channels += g_.type(v).rank() > 0 ? g_.type(v).shape.back() : 0;
    if (channels != g_.type(y).shape.back() || layers.empty() || layers.size() != uses.readers[y].size() ||
        uses.output_uses[y] != 0 || !seen_.of(y))
      return false;
    std::vector<Part> parts;
    std::vector<Interval> all;
    std::optional<Interval> of_others;
    for (const ValueId v : operands) {
      if (g_.is_constant(v) || !seen_.of(v) || std::ranges::count(operands, v) != 1) return false;
      const Part& part = parts.emplace_back(part_of(uses, v, !any_padded(layers)));
      all.insert(all.end(), part.ranges.begin(), part.ranges.end());
      if (part.kind == Part::other && (!of_others || part.ranges[0].span() > of_others->span())) of_others = part.ranges[0];
    }
    const Interval to = of_others.value_or(balanced(all, false));
    constexpr double kBeyond = 1.1;  // what sets the range, the others, says nothing of how far the columns of an input go
    if (of_others)
      for (size_t k = 0; k < parts.size(); ++k)
        if (parts[k].kind == Part::input) with_room(parts[k].ranges, kBeyond * (1 + room_of(*seen_.of(operands[k]), all.size())) - 1);
    if (!(to.span() > 0)) return false;
    ChannelSizes sizes;
    std::vector<double> now;
    for (size_t k = 0; k < parts.size(); ++k) size_part(parts[k], g_.type(operands[k]).shape.back(), to, seen_.step(y), sizes, now);
    if (coarsest(layers, now, own_steps(to, sizes)) < kCoarse) return false;
    for (size_t k = 0; k < parts.size(); ++k) change_part(operands[k], parts[k], y);
    for (Node& layer : g_.nodes)
      if (sums_channels(g_, layer, y)) read_sized(g_, layer, sizes);
    return true;
  }
  // Appends what becomes of the part's channels, and their steps as they are now.
  static void size_part(Part& part, i64 channels, const Interval& to, double shared, ChannelSizes& sizes, std::vector<double>& now) {
    part.sizes = sizes_to(to, part.ranges, part.may_move);
    if (part.kind == Part::other && part.sizes.times[0] < kCoarse) part.sizes.times[0] = 1;
    for (size_t c = 0; c < static_cast<size_t>(channels); ++c) {
      sizes.add.push_back(part.sizes.add[c % part.sizes.add.size()]);
      sizes.times.push_back(part.sizes.times[c % part.sizes.times.size()]);
      sizes.is_zero.push_back(part.sizes.is_zero[c % part.sizes.is_zero.size()]);
      const bool rounded = part.kind == Part::input;
      now.push_back(rounded ? std::max(shared, part.chain->rounding[c % part.chain->rounding.size()]) : shared);
    }
  }
  void change_part(ValueId v, const Part& part, ValueId y) {
    if (part.kind == Part::layer) return make_sized(g_, *maker_of(v), part.sizes);
    const auto at = static_cast<NodeId>(maker_of(y) - g_.nodes.begin());
    ValueId u = v;
    if (part.kind == Part::input) {
      u = sized_end(*part.chain, part.sizes, at);
    } else if (part.sizes.times[0] != 1) {
      Pointwise product;
      PointStep& step = product.program.steps.emplace_back();
      step.fn = PointFn::mul;
      step.b = {PointOperand::kNumber, static_cast<float>(part.sizes.times[0])};
      u = g_.add_value(g_.values[v].name + ".sized", Type(g_.type(v)));
      g_.nodes.insert(g_.nodes.begin() + at, Node{std::move(product), {v}, {u}, g_.nodes[at].origin});
    }
    std::ranges::replace(maker_of(y)->inputs, v, u);
  }

  Graph& g_;
  const SeenRanges seen_;
  const FloatPorts& ports_;
};

}  // namespace

int scale_borders(Graph& g, const std::vector<Observation>& observations, const FloatPorts& ports) {
  std::vector<Observation> seen = observations;
  int changed = 0;
  while (const int split = split_layers(g, seen)) changed += split;
  BorderScales borders(g, seen, ports);
  changed += borders.scale_sums();
  changed += borders.scale_concats();
  changed += borders.scale_inputs();
  changed += scale_outputs(g, seen, ports);
  if (changed > 0) remove_dead(g, "computed with the numbers of the border");
  return changed;
}

}  // namespace deuteron
