// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/border_inputs.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "compile/quantize/channel_lines.h"
#include "ops/families.h"

namespace deuteron {

namespace {

// Numbers of x, as many for each power of two of its distance from zero as along its range: a
// logarithm shows the smallest.
std::vector<float> grid_of(const Observation& x) {
  constexpr int kAlong = 2048, kPowers = 40, kOfEach = 32;
  std::vector<float> grid;
  for (int i = 0; i <= kAlong; ++i)
    grid.push_back(static_cast<float>(
        std::lerp(double{x.low}, double{x.high}, static_cast<double>(i) / kAlong)));
  for (const double end : {x.low, x.high})
    for (int i = 0; i < kPowers * kOfEach; ++i) {
      const double at = end * std::exp2(-static_cast<double>(i) / kOfEach);
      if (at >= x.low && at <= x.high) grid.push_back(static_cast<float>(at));
    }
  return grid;
}

std::vector<float> values_of(const Op& f, std::span<std::vector<float>> x) {
  const Type type{DType::f32, {static_cast<i64>(x[0].size())}, {}};
  std::vector<float> y(x[0].size());
  std::vector<HostTensor> operands;
  for (std::vector<float>& data : x) operands.push_back({&type, data.data()});
  execute(f, operands, std::vector<HostTensor>{{&type, y.data()}});
  return y;
}
std::vector<float> values_of(const Op& f, std::vector<float> x) {
  return values_of(f, std::span(&x, 1));
}

// Root of the mean squared error of y = f(x) that rounding x to such steps makes, where y lies as
// often as was seen.
double error_behind(const Op& f, const Observation& of_x, const Observation& of_y, double step) {
  const std::vector<float> x = grid_of(of_x), y = values_of(f, x);
  std::vector<float> rounded;
  for (const float v : x)
    rounded.push_back(static_cast<float>(
        std::clamp(std::nearbyint(v / step) * step, double{of_x.low}, double{of_x.high})));
  const std::vector<float> of_rounded = values_of(f, rounded);
  std::vector<double> squares(of_y.bins.size()), points(of_y.bins.size());
  const double per_unit = static_cast<double>(of_y.bins.size()) /
                          std::max(1e-30, static_cast<double>(of_y.high) - of_y.low);
  for (size_t i = 0; i < x.size(); ++i) {
    const double error =
        std::clamp(double{of_rounded[i]}, double{of_y.low}, double{of_y.high}) - y[i];
    const double at = (y[i] - of_y.low) * per_unit;
    if (!std::isfinite(error) || at < 0 || at > static_cast<double>(of_y.bins.size())) continue;
    const size_t bin = std::min(static_cast<size_t>(at), of_y.bins.size() - 1);
    squares[bin] += error * error, ++points[bin];
  }
  const std::vector<i64> counts = of_y.bins.counts();
  double sum = 0, count = 0;
  for (size_t b = 0; b < points.size(); ++b)
    if (points[b] > 0) {
      const auto n = static_cast<double>(counts[b]);
      sum += n * squares[b] / points[b], count += n;
    }
  return count > 0 ? std::sqrt(sum / count) : 0;
}

}  // namespace

Uses live_uses(const Graph& g) {
  Uses uses(g);
  for (size_t n = g.nodes.size(); n-- > 0;) {
    const auto is_used = [&](ValueId v) {
      return uses.output_uses[v] > 0 || !uses.readers[v].empty();
    };
    if (std::ranges::any_of(g.nodes[n].outputs, is_used)) continue;
    for (const ValueId v : g.nodes[n].inputs) std::erase(uses.readers[v], static_cast<NodeId>(n));
  }
  return uses;
}

BorderInputs::BorderInputs(const Graph& g, const SeenRanges& seen, const FloatPorts& ports)
    : g_(g), seen_(seen), uses_(live_uses(g)), may_be_float_(g.values.size()) {
  for (size_t i = 0; i < std::min(ports.inputs.size(), g.user_inputs().size()); ++i) {
    const ValueId v = g.inputs[i].value;
    may_be_float_[v] =
        ports.inputs[i] && g.type(v).dtype == DType::f32 && g.type(v).rank() > 0 && seen_.of(v);
    if (may_be_float_[v]) sources_.push_back(v);
  }
  for (const Node& node : g.nodes)
    if (computes_in_float(node)) {
      may_be_float_[node.outputs[0]] = true;
      if (only_moves(node) || !is_line(node)) sources_.push_back(node.outputs[0]);
    }
  std::ranges::reverse(sources_);
}

bool BorderInputs::computes_in_float(const Node& node) const {
  if (node.outputs.size() != 1 || !seen_.of(node.outputs[0]) ||
      g_.type(node.outputs[0]).dtype != DType::f32)
    return false;
  if (g_.type(node.outputs[0]).elements() > kMaxInFloat) return false;
  if (!only_moves(node) && !is_of_elements(node) && !line_of(g_, node, node.inputs[0]))
    return false;
  const auto is_there = [&](ValueId v) { return may_be_float_[v] || g_.is_constant(v); };
  return std::ranges::all_of(node.inputs, is_there) &&
         std::ranges::any_of(node.inputs, [&](ValueId v) { return may_be_float_[v]; });
}
bool BorderInputs::is_line(const Node& node) const {
  return std::ranges::any_of(node.inputs,
                             [&](ValueId v) { return may_be_float_[v] && line_of(g_, node, v); });
}

// The steps that show in v where what it is made of has steps of its own, by channel or for all.
// What is moved of an input is rounded with all of it.
std::vector<double> BorderInputs::rounding_of(ValueId v) const {
  const NodeId maker = uses_.producer[v];
  const double step = seen_.step(v);
  if (maker < 0) return {step};
  const Node& node = g_.nodes[maker];
  if (only_moves(node) && node.inputs.size() == 1)
    return {std::ranges::max(rounding_of(node.inputs[0]))};
  const ValueId x = node.inputs[0];
  if (facts_of(node.op).family == Family::binary) return rounding_of_two(node);
  if (facts_of(node.op).family != Family::elementwise || !seen_.of(x) || seen_.step(x) == 0)
    return {step};
  return {std::max(
      step, error_behind(node.op, *seen_.of(x), *seen_.of(v), seen_.step(x)) * std::sqrt(12.0))};
}

// By channel: what is seen of a value, or what a constant has; nothing where that does not fit.
std::vector<Interval> BorderInputs::ranges_of(ValueId v, size_t channels) const {
  if (!g_.is_constant(v)) {
    const std::vector<Interval> ranges = seen_.channels(v);
    return ranges.size() == channels ? ranges : std::vector<Interval>(channels, seen_.range(v));
  }
  if (g_.type(v).dtype != DType::f32) return {};
  const std::span<const float> data = g_.values[v].constant->as<float>();
  const size_t last = g_.type(v).rank() > 0 ? static_cast<size_t>(g_.type(v).shape.back()) : 1;
  if (data.empty() || (last != channels && last != 1)) return {};
  std::vector<Interval> ranges;
  for (size_t c = 0; c < channels; ++c) {
    Interval& r = ranges.emplace_back(Interval{data[c % last], data[c % last]});
    for (size_t i = c % last; i < data.size(); i += last)
      r = {std::min(r.low, double{data[i]}), std::max(r.high, double{data[i]})};
  }
  return ranges;
}

// Of y = f(a, b), for numbers of both anywhere within their ranges.
std::vector<double> BorderInputs::rounding_of_two(const Node& node) const {
  constexpr size_t kPoints = 251;
  const ValueId y = node.outputs[0];
  const std::vector<Interval> of_y = seen_.channels(y);
  const std::vector<Interval> of[] = {ranges_of(node.inputs[0], of_y.size()),
                                      ranges_of(node.inputs[1], of_y.size())};
  std::vector<double> rounding(std::max<size_t>(1, of_y.size()), seen_.step(y));
  if (of_y.empty() || of_y.size() > kFewChannels || of[0].empty() || of[1].empty()) return rounding;
  for (size_t c = 0; c < of_y.size(); ++c) {
    std::vector<float> x[2], rounded[2];
    for (const size_t k : {0, 1}) {
      const double step = g_.is_constant(node.inputs[k]) ? 0 : seen_.step(node.inputs[k]);
      for (size_t i = 0; i < kPoints; ++i) {
        constexpr size_t kStrides[] = {1, 97};  // all pairs of places are different
        const double at = static_cast<double>(i * kStrides[k] % kPoints) / (kPoints - 1);
        const double v = std::lerp(of[k][c].low, of[k][c].high, at);
        x[k].push_back(static_cast<float>(v));
        rounded[k].push_back(static_cast<float>(step > 0 ? std::nearbyint(v / step) * step : v));
      }
    }
    const std::vector<float> exact = values_of(node.op, x), found = values_of(node.op, rounded);
    double sum = 0;
    for (size_t i = 0; i < kPoints; ++i) {
      const double error = std::clamp(double{found[i]}, of_y[c].low, of_y[c].high) -
                           std::clamp(double{exact[i]}, of_y[c].low, of_y[c].high);
      if (std::isfinite(error)) sum += error * error;
    }
    rounding[c] = std::max(rounding[c], std::sqrt(12 * sum / kPoints));
  }
  return rounding;
}

Chain BorderInputs::empty_chain(ValueId v, NodeId first) const {
  const NodeId reader = first >= 0 ? first : uses_.producer[v];
  return {v,    v, {{1}, {0}}, rounding_of(v), reader >= 0 ? g_.nodes[reader].origin : Origin{},
          first};
}

// False: what the node makes is no line of the chain's end.
bool BorderInputs::extend(Chain& chain, const Node& node) const {
  const auto line = line_of(g_, node, chain.end);
  auto all = line ? composed(chain.line, *line) : std::nullopt;
  const auto is_usable = [](double slope) { return slope != 0 && std::isfinite(slope); };
  if (!all || !std::ranges::all_of(all->slope, is_usable)) return false;
  const size_t before = chain.rounding.size(), channels = std::max(all->slope.size(), before);
  if (channels % before != 0 || channels % all->slope.size() != 0) return false;
  if (g_.type(chain.from).elements() % static_cast<i64>(channels) != 0) return false;
  std::vector<double> rounding(channels);
  for (size_t c = 0; c < channels; ++c)
    rounding[c] = std::max(chain.rounding[c % before], seen_.step(chain.end)) *
                  std::abs(line->slope[c % line->slope.size()]);
  chain.rounding = std::move(rounding);
  chain.line = *std::move(all);
  chain.end = node.outputs[0];
  chain.origin = merge(chain.origin, node.origin);
  return true;
}
Chain BorderInputs::lines_from(ValueId x, NodeId first) const {
  Chain chain = empty_chain(x, first);
  for (NodeId n = first; n >= 0 && extend(chain, g_.nodes[n]);)
    n = uses_.has_single_reader(chain.end) ? uses_.readers[chain.end][0] : -1;
  return chain;
}
std::optional<Chain> BorderInputs::chain_to(ValueId v) const {
  if (!may_be_float_[v]) return std::nullopt;
  for (const ValueId x : sources_) {
    if (x == v) return empty_chain(v, uses_.readers[v].empty() ? -1 : uses_.readers[v][0]);
    for (const NodeId first : uses_.readers[x]) {
      Chain chain = lines_from(x, first);
      if (chain.end == v) return chain;
    }
  }
  return std::nullopt;
}

namespace {

// Computes values of inputs once more, in float.
class Again {
 public:
  Again(Graph& g, NodeId& at) : g_(g), uses_(g), at_(at), nodes_(g.nodes) {}

  ValueId operator()(ValueId v) {
    if (g_.is_constant(v) || uses_.producer[v] < 0) return v;
    if (const auto made = made_.find(v); made != made_.end()) return made->second;
    Node node = nodes_[uses_.producer[v]];
    if (const auto line = is_layer(node.op) ? line_of(g_, node, node.inputs[0]) : std::nullopt) {
      const ValueId x = (*this)(node.inputs[0]);
      return made_[v] = add_affine(g_, x, *line, unchanged_sizes(), at_++, node.origin);
    }
    for (ValueId& x : node.inputs) x = (*this)(x);
    node.outputs[0] = g_.add_value(g_.values[v].name, Type(g_.type(v)));
    g_.nodes.insert(g_.nodes.begin() + at_++, node);
    return made_[v] = node.outputs[0];
  }

 private:
  Graph& g_;
  const Uses uses_;
  NodeId& at_;
  const std::vector<Node> nodes_;
  std::map<ValueId, ValueId> made_;
};

}  // namespace

ValueId sized_end(Graph& g, const Chain& chain, const ChannelSizes& sizes, NodeId at) {
  const Shape shape = g.type(chain.end).shape;
  const ValueId from = Again(g, at)(chain.from);
  const ValueId u = add_affine(g, from, chain.line, sizes, at, chain.origin);
  if (g.type(u).shape == shape) return u;
  const ValueId y = g.add_value(g.values[u].name, Type{DType::f32, shape, {}});
  g.nodes.insert(g.nodes.begin() + at + 1, Node{reshape_to(shape), {u}, {y}, chain.origin});
  return y;
}

}  // namespace deuteron
