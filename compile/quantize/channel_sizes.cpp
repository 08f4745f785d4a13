// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/channel_sizes.h"

#include <cmath>
#include <limits>

#include "ops/families.h"

namespace deuteron {

const Observation* SeenRanges::of(ValueId v) const {
  return static_cast<size_t>(v) < observations.size() && observations[v].seen ? &observations[v]
                                                                              : nullptr;
}
Interval SeenRanges::range(ValueId v) const {
  const Observation* o = of(v);
  return o ? Interval{o->low, o->high} : Interval{};
}
double SeenRanges::step(ValueId v) const {
  const Observation* o = of(v);
  return o && o->bytes ? 0 : step_of(with_zero(range(v)));
}
// Empty where a sum or a product with a size may leave float32.
static std::vector<Interval> channels_of(const Observation& o) {
  constexpr float kLargest = 1e30f;
  std::vector<Interval> ranges;
  for (size_t c = 0; c < o.channel_low.size(); ++c) {
    if (o.channel_low[c] < -kLargest || o.channel_high[c] > kLargest) return {};
    ranges.push_back({o.channel_low[c], o.channel_high[c]});
  }
  return ranges;
}
std::vector<Interval> SeenRanges::channels(ValueId v) const {
  return of(v) ? channels_of(observations[v]) : std::vector<Interval>{};
}
std::vector<Interval> SeenRanges::channels_to_size(ValueId v) const {
  return of(v) ? channels_of(reached[v]) : std::vector<Interval>{};
}

// Without moving: the smaller of both factors that an end allows.
static double largest_factor(const Interval& from, const Interval& to) {
  double factor = std::numeric_limits<double>::infinity();
  if (from.high > 0 && to.high > 0) factor = to.high / from.high;
  if (from.low < 0 && to.low < 0) factor = std::min(factor, to.low / from.low);
  return std::isfinite(factor) ? factor : 1;
}

ChannelSizes sizes_to(const Interval& to, const std::vector<Interval>& ranges, bool may_move) {
  ChannelSizes sizes;
  for (const Interval& seen : ranges) {
    const Interval r = seen.span() > 0 ? seen : with_zero(seen);
    const bool moves = may_move && r.span() > 0;
    const double times = moves ? to.span() / r.span() : largest_factor(r, to);
    sizes.times.push_back(times);
    sizes.add.push_back(moves ? to.low / times - r.low : 0);
    sizes.is_zero.push_back(r.span() == 0);
  }
  double least = std::numeric_limits<double>::infinity();
  for (size_t c = 0; c < ranges.size(); ++c)
    if (!sizes.is_zero[c]) least = std::min(least, sizes.times[c]);
  for (size_t c = 0; c < ranges.size(); ++c)
    if (sizes.is_zero[c] && std::isfinite(least)) sizes.times[c] = least;
  return sizes;
}

Interval balanced(const std::vector<Interval>& ranges, bool may_move) {
  double most = 0;
  for (const Interval& r : ranges)
    most = std::max(most, may_move && r.span() > 0 ? r.span() / 2 : std::max(-r.low, r.high));
  // of 1: scales of weights would come near the smallest that there are
  constexpr double kFar = 1024;
  if (most > 0 && (most > kFar || most < 1 / kFar)) most = 1;
  return {-most, most};
}

std::vector<double> own_steps(const Interval& to, const ChannelSizes& sizes) {
  std::vector<double> steps;
  for (size_t c = 0; c < sizes.times.size(); ++c)
    steps.push_back(sizes.is_zero[c] ? 0 : step_of(to) / sizes.times[c]);
  return steps;
}

static bool has_float_parameters(const Graph& g, const Node& node) {
  return std::all_of(node.inputs.begin() + 1, node.inputs.end(),
                     [&](ValueId v) { return g.is_constant(v) && g.type(v).dtype == DType::f32; });
}

// Each weight row of such a layer sums what a pixel or a row has.
static bool is_linear_or_conv(const Op& op) {
  return std::holds_alternative<Linear>(op) || std::holds_alternative<Conv2d>(op);
}

bool sums_channels(const Graph& g, const Node& node, ValueId x) {
  return is_linear_or_conv(node.op) && node.inputs[0] == x && has_float_parameters(g, node) &&
         g.type(node.inputs[1]).shape.back() == g.type(x).shape.back();
}

bool is_padded(const Node& node) {
  const Conv2d* conv = std::get_if<Conv2d>(&node.op);
  return conv && (conv->pad_before != HW{0, 0} || conv->pad_after != HW{0, 0});
}

bool makes_channels(const Graph& g, const Node& node) {
  if (!is_linear_or_conv(node.op) || !has_float_parameters(g, node)) return false;
  const Bounds& bounds = *bounds_of(node.op);
  return bounds.none() ||
         (bounds.low == 0 && bounds.high == std::numeric_limits<float>::infinity());
}

double coarser(const Graph& g, const Node& layer, const std::vector<double>& now,
               const std::vector<double>& own) {
  const GraphValue& weight = g.values[layer.inputs[1]];
  const std::span<const float> data = weight.constant->as<float>();
  const size_t row = data.size() / static_cast<size_t>(weight.type.shape[0]);
  double most = 0;
  for (size_t from = 0; from < data.size(); from += row) {
    double of_now = 0, of_own = 0;
    for (size_t i = 0; i < row; ++i) {
      const double w = own[i % own.size()] > 0 ? data[from + i] : 0;
      of_now += std::pow(w * now[i % now.size()], 2);
      of_own += std::pow(w * own[i % own.size()], 2);
    }
    if (of_own > 0) most = std::max(most, std::sqrt(of_now / of_own));
  }
  return most;
}

static std::vector<float> numbers(const Graph& g, ValueId v) {
  const std::span<const float> data = g.values[v].constant->as<float>();
  return {data.begin(), data.end()};
}

static std::vector<float> bias_of(const Graph& g, const Node& layer) {
  if (layer.inputs.size() > 2) return numbers(g, layer.inputs[2]);
  return std::vector<float>(static_cast<size_t>(g.type(layer.inputs[1]).shape[0]));
}

// The old constants may have other readers.
static void set_parameters(Graph& g, Node& layer, std::vector<float> weight,
                           std::vector<float> bias) {
  const std::string name = g.values[layer.inputs[1]].name;
  const Type type = g.type(layer.inputs[1]), of_bias{DType::f32, {type.shape[0]}, {}};
  const ValueId w = g.add_value(name, type, constant_of(std::move(weight)));
  layer.inputs = {layer.inputs[0], w,
                  g.add_value(name + ".bias", of_bias, constant_of(std::move(bias)))};
}

Node layer_of_channels(Graph& g, const Node& layer, const std::vector<i64>& channels,
                       ValueId result) {
  const GraphValue weight = g.values[layer.inputs[1]];
  const std::span<const float> all = weight.constant->as<float>();
  const std::vector<float> biases = bias_of(g, layer);
  const size_t row = all.size() / biases.size();
  std::vector<float> rows, bias;
  for (const i64 c : channels) {
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(c) * row);
    rows.insert(rows.end(), from, from + static_cast<std::ptrdiff_t>(row));
    bias.push_back(biases[static_cast<size_t>(c)]);
  }
  Type type = weight.type;
  type.shape[0] = static_cast<i64>(channels.size());
  Node part{layer.op, {layer.inputs[0]}, {result}, layer.origin};
  part.inputs.push_back(g.add_value(weight.name, type, constant_of(std::move(rows))));
  if (layer.inputs.size() > 2) {
    const Type of_bias{DType::f32, {type.shape[0]}, {}};
    const std::string name = weight.name + ".bias";
    part.inputs.push_back(g.add_value(name, of_bias, constant_of(std::move(bias))));
  }
  return part;
}

// x = u / times - add
void read_sized(Graph& g, Node& layer, const ChannelSizes& sizes) {
  std::vector<float> weight = numbers(g, layer.inputs[1]), bias = bias_of(g, layer);
  const size_t channels = sizes.times.size(), row = weight.size() / bias.size();
  std::vector<double> moved(bias.size());
  for (size_t i = 0; i < weight.size(); ++i) {
    moved[i / row] += weight[i] * sizes.add[i % channels];
    weight[i] = static_cast<float>(weight[i] / sizes.times[i % channels]);
  }
  for (size_t o = 0; o < bias.size(); ++o) bias[o] = static_cast<float>(bias[o] - moved[o]);
  set_parameters(g, layer, std::move(weight), std::move(bias));
}

// u = (y + add) * times
void make_sized(Graph& g, Node& layer, const ChannelSizes& sizes) {
  std::vector<float> weight = numbers(g, layer.inputs[1]), bias = bias_of(g, layer);
  const size_t row = weight.size() / bias.size();
  for (size_t i = 0; i < weight.size(); ++i)
    weight[i] = static_cast<float>(weight[i] * sizes.times[i / row]);
  for (size_t o = 0; o < bias.size(); ++o)
    bias[o] = static_cast<float>((bias[o] + sizes.add[o]) * sizes.times[o]);
  set_parameters(g, layer, std::move(weight), std::move(bias));
}

bool is_float_by_channel(const Op& op) {
  return facts_of(op).family == Family::by_channel && quant_specs(op).empty();
}

bool fills_each_channel(const Observation& seen) {
  constexpr float kNearly = 0.9f;
  size_t full = 0;
  for (size_t c = 0; c < seen.channel_low.size(); ++c)
    full += seen.channel_high[c] - seen.channel_low[c] >= kNearly * (seen.high - seen.low);
  return 4 * full >= 3 * seen.channel_low.size();
}

// Of the normal distribution: half of the range of n numbers, in deviations.
static double expected_reach(double n) {
  constexpr double kLn4Pi = 2.531;
  const double log_n = std::log(std::max(8.0, n));
  return std::sqrt(2 * log_n) - (std::log(log_n) + kLn4Pi) / std::sqrt(8 * log_n);
}

double room_of(const Observation& seen, size_t channels) {
  const auto all = static_cast<double>(seen.bins.total());
  const double n = all / static_cast<double>(std::max<size_t>(1, seen.channel_low.size()));
  return expected_reach(n * static_cast<double>(channels)) / expected_reach(n) - 1;
}

void with_room(std::vector<Interval>& ranges, double room) {
  for (Interval& r : ranges) {
    const double further = room * r.span() / 2;
    r = {r.low - further, r.high + further};
  }
}

ValueId add_affine(Graph& g, ValueId x, const ChannelLine& line, const ChannelSizes& sizes,
                   NodeId at, const Origin& origin) {
  const size_t n = line.slope.size(), m = sizes.times.size(), count = std::max(n, m);
  std::vector<float> shift, factor;
  for (size_t c = 0; c < count; ++c) {
    const double slope = line.slope[c % n];
    shift.push_back(static_cast<float>((line.offset[c % n] + sizes.add[c % m]) / slope));
    factor.push_back(static_cast<float>(slope * sizes.times[c % m]));
  }
  const std::string name = g.values[x].name;
  const Type channels{DType::f32, {static_cast<i64>(count)}, {}},
      type{DType::f32, g.type(x).shape, {}};
  const ValueId shifts = g.add_value(name + ".shift", channels, constant_of(std::move(shift)));
  const ValueId factors = g.add_value(name + ".factor", channels, constant_of(std::move(factor)));
  const ValueId y = g.add_value(name + ".sized", type);
  g.nodes.insert(g.nodes.begin() + at, Node{Affine{}, {x, shifts, factors}, {y}, origin});
  return y;
}

}  // namespace deuteron
