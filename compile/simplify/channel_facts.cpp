// SPDX-License-Identifier: Apache-2.0
#include "compile/simplify/channel_facts.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string>
#include <unordered_map>

#include "compile/lower/call_node.h"
#include "ops/common/bounds.h"
#include "ops/families.h"
#include "targets/target.h"

namespace deuteron {

namespace {

constexpr Steps kNothing{127, -128};

void widen(Steps& s, const Steps& by) {
  s.low = std::min(s.low, by.low), s.high = std::max(s.high, by.high);
}

// Who has more channels than any layer of a microcontroller keeps them all: a vector of a million
// elements is no image of a million channels.
constexpr i64 kMaxChannels = 1 << 14;

bool has_channel_steps(const Type& t) {
  return is_int8_per_tensor(t) && t.rank() > 0 && channels_of(t) <= kMaxChannels;
}

bool have_same_steps(const Type& a, const Type& b) {
  return a.quant.scale == b.quant.scale && a.quant.zero_point == b.quant.zero_point;
}

void add_bytes(std::string& key, const auto& v) {
  key.append(reinterpret_cast<const char*>(&v), sizeof v);
}

// The steps of a result, channel by channel.
class StepsOf {
 public:
  StepsOf(const Graph& g, const Target& target, const Node& node, const NodeChannels& channels,
          std::span<const std::vector<Steps>> steps)
      : g_(g),
        target_(target),
        node_(node),
        channels_(channels),
        steps_(steps),
        y_(g.type(node.outputs[0])),
        found_(static_cast<size_t>(channels_of(y_))) {}

  std::vector<Steps> find() {
    if (channels_.layer) of_layer();
    else if (channels_.ties && of_int8()) of_ties();
    return std::move(found_);
  }

 private:
  void of_layer() {
    for (size_t o = 0; o < found_.size(); ++o)
      found_[o] = channels_.layer->steps(static_cast<i64>(o), of_operand(0));
  }

  void of_ties() {
    const Family family = facts_of(node_.op).family;
    if (family == Family::movement) moved();
    else if (family == Family::elementwise) by_table();
    else if (family == Family::binary) by_pairs();
    else if (family == Family::pool && keeps_constants() && moved()) hold();
  }

  // Each element is one of the operands', or zero. False: their steps mean other numbers.
  bool moved() {
    for (const ValueId v : node_.inputs)
      if (!have_same_steps(g_.type(v), y_)) return false;
    if (channels_.ties->padding != 0) return false;
    std::ranges::fill(found_, kNothing);
    for (const ChannelTie& t : channels_.ties->ties)
      widen(found_[static_cast<size_t>(t.to)], of_operand(t.operand)[static_cast<size_t>(t.from)]);
    const i32 zero = y_.quant.zero_point[0];
    const std::vector<bool>& padded = channels_.ties->is_padded;
    for (size_t c = 0; c < padded.size(); ++c)
      if (padded[c]) widen(found_[c], {zero, zero});
    return true;
  }

  // A pool whose padding does not count: of ones it makes ones.
  bool keeps_constants() const {
    Type x{DType::f32, g_.type(node_.inputs[0]).shape, {}}, y{DType::f32, y_.shape, {}};
    x.shape.back() = y.shape.back() = 1;
    std::vector<float> ones(static_cast<size_t>(x.elements()), 1.0f),
        found(static_cast<size_t>(y.elements()));
    const HostTensor in{&x, ones.data()}, out{&y, found.data()};
    Op op = node_.op;
    if (Bounds* bounds = bounds_of(op)) *bounds = {};
    execute(op, {&in, 1}, {&out, 1});
    return std::ranges::all_of(found, [](float v) { return v == 1; });
  }

  // As the CPU computes it; the NPU has other ways.
  void by_table() {
    if (target_.npu) return;
    std::vector<const Type*> in, out;
    const std::array<const Constant*, 1> none{};
    const LowerContext context{.in = g_.types(node_.inputs, in),
                               .out = g_.types(node_.outputs, out),
                               .data = none,
                               .isa = target_.isa,
                               .rounding = rounding_of(g_, node_, target_),
                               .cmsis_nn = target_.cmsis_nn,
                               .for_stock = target_.options.is_for_stock()};
    const Result<Lowered> lowered = lower_to_cortex_m(node_.op, context);
    if (!lowered || lowered->call.name != "cortex_m::quantized_activation" ||
        lowered->constants.size() != 1)
      return;
    const std::span<const int8_t> table = lowered->constants[0].data.as<int8_t>();
    if (table.size() != 256) return;
    const std::span<const Steps> x = of_operand(0);
    for (size_t c = 0; c < found_.size(); ++c) {
      found_[c] = kNothing;
      for (i32 step = x[c].low; step <= x[c].high; ++step)
        widen(found_[c], {table[step + 128], table[step + 128]});
    }
  }
  // What is zero whatever the operands are is so in any arithmetic; other results may be rounded to
  // either side.
  void by_pairs() {
    const i32 zero = y_.quant.zero_point[0];
    for (size_t c = 0; c < found_.size(); ++c) {
      bool is_zero = true;
      for (const float a : ends_of(0, c))
        for (const float b : ends_of(1, c)) is_zero = is_zero && value_of(a, b) == 0;
      found_[c] = is_zero ? Steps{zero, zero} : Steps{};
    }
    hold();
  }
  // The ends of what a channel can be, and zero if that is between them.
  std::vector<float> ends_of(size_t operand, size_t c) const {
    const std::span<const Steps> x = of_operand(operand);
    const Steps s = x.size() == found_.size() ? x[c] : x.size() == 1 ? x[0] : Steps{};
    const Quant& q = g_.type(node_.inputs[operand]).quant;
    const auto real = [&](i32 step) {
      return q.scale[0] * static_cast<float>(step - q.zero_point[0]);
    };
    std::vector<float> ends{real(s.low)};
    if (s.high != s.low) ends.push_back(real(s.high));
    if (s.low < q.zero_point[0] && q.zero_point[0] < s.high) ends.push_back(0);
    return ends;
  }
  float value_of(float a, float b) const {
    static const Type kOne{DType::f32, {1}, {}};
    Op op = node_.op;
    if (Bounds* bounds = bounds_of(op)) *bounds = {};
    float y = 0;
    const std::array<HostTensor, 2> in{HostTensor{&kOne, &a}, HostTensor{&kOne, &b}};
    const HostTensor out{&kOne, &y};
    execute(op, in, {&out, 1});
    return y;
  }
  void hold() {
    const Bounds* bounds = bounds_of(node_.op);
    for (Steps& s : found_) s = held(s, bounds ? *bounds : Bounds{});
  }
  Steps held(const Steps& s, const Bounds& bounds) const {
    Steps result = kNothing;
    for (const Rounding rounding : {Rounding::once, Rounding::tflite}) {
      const StepRange r = step_range(bounds, y_.quant, rounding);
      widen(result, {std::clamp(s.low, r.low, r.high), std::clamp(s.high, r.low, r.high)});
    }
    return result;
  }
  std::span<const Steps> of_operand(size_t k) const {
    return steps_[static_cast<size_t>(node_.inputs[k])];
  }
  bool of_int8() const {
    return std::ranges::all_of(node_.inputs,
                               [&](ValueId v) { return has_channel_steps(g_.type(v)); });
  }

  const Graph& g_;
  const Target& target_;
  const Node& node_;
  const NodeChannels& channels_;
  std::span<const std::vector<Steps>> steps_;
  const Type& y_;
  std::vector<Steps> found_;
};

// What channel c of the result is made of, as text: of equal texts the channels are equal.
class Recipe {
 public:
  Recipe(const Graph& g, const Node& node, const NodeChannels& channels,
         std::span<const std::vector<i32>> like)
      : g_(g),
        node_(node),
        channels_(channels),
        keys_(static_cast<size_t>(channels_of(g.type(node.outputs[0])))) {
    if (channels.ties) {
      for (const ChannelTie& t : channels.ties->ties) add_tie(t, like);
      for (size_t k = 0; k < node.inputs.size(); ++k)
        if (g.is_constant(node.inputs[k])) add_constant(k);
    }
    for (size_t c = 0; c < keys_.size(); ++c) {
      if (channels.layer && (channels.layer->is_dense() || channels.ties)) add_filter(c);
      else if (!channels.ties || keys_[c].empty()) add_bytes(keys_[c], c);  // like no other
    }
  }
  std::vector<i32> like() const {
    std::unordered_map<std::string_view, i32> first;
    std::vector<i32> result;
    for (size_t c = 0; c < keys_.size(); ++c)
      result.push_back(first.try_emplace(keys_[c], static_cast<i32>(c)).first->second);
    return result;
  }

 private:
  void add_tie(const ChannelTie& t, std::span<const std::vector<i32>> like) {
    const std::vector<i32>& x = like[static_cast<size_t>(node_.inputs[t.operand])];
    std::string& key = keys_[static_cast<size_t>(t.to)];
    const auto from = static_cast<i64>(x.empty() ? t.from : x[static_cast<size_t>(t.from)]);
    add_bytes(key, t.operand), add_bytes(key, from);
    // One channel of an image may be several of a vector, which hold other elements of it. Those of
    // a layer tell by their filters.
    if (!channels_.layer) add_bytes(key, ++seen_[{t.operand, t.from}]);
  }
  void add_constant(size_t k) {
    if (channels_.layer) return;  // its filters are added by themselves
    const Type& t = g_.type(node_.inputs[k]);
    const auto size = static_cast<size_t>(bytes_of(t.dtype));
    if (t.elements() == 1) return;
    const bool one_each =
        t.elements() == channels_of(t) && channels_of(t) == static_cast<i64>(keys_.size());
    for (size_t c = 0; c < keys_.size(); ++c) {
      if (!one_each) add_bytes(keys_[c], c);
      else
        keys_[c].append(
            reinterpret_cast<const char*>(g_.values[node_.inputs[k]].constant->bytes.data()) +
                c * size,
            size);
    }
  }
  void add_filter(size_t c) {
    const auto o = static_cast<i64>(c);
    const std::span<const int8_t> filter = channels_.layer->filter(o);
    keys_[c].append(reinterpret_cast<const char*>(filter.data()), filter.size());
    add_bytes(keys_[c], channels_.layer->bias(o)),
        add_bytes(keys_[c], channels_.layer->weight_scale(o));
  }

  const Graph& g_;
  const Node& node_;
  const NodeChannels& channels_;
  std::vector<std::string> keys_;
  std::map<std::pair<size_t, i64>, i64> seen_;  // times that a channel of an operand was met
};

Steps steps_of_column(std::span<const int8_t> column_first, size_t stride) {
  Steps s = kNothing;
  for (size_t k = 0; k < column_first.size(); k += stride)
    widen(s, {column_first[k], column_first[k]});
  return s;
}

// Of an input: anything. Of a constant: what it holds.
std::vector<Steps> steps_of_given(const GraphValue& v) {
  const auto channels = static_cast<size_t>(channels_of(v.type));
  std::vector<Steps> steps(channels);
  if (!v.constant) return steps;
  const std::span<const int8_t> data = v.constant->as<int8_t>();
  for (size_t c = 0; c < channels && c < data.size(); ++c)
    steps[c] = steps_of_column(data.subspan(c), channels);
  return steps;
}

}  // namespace

ChannelFacts::ChannelFacts(const Graph& g, const Target& target)
    : nodes(g.nodes.size()), steps(g.values.size()), like(g.values.size()) {
  const Uses uses(g);
  for (size_t v = 0; v < g.values.size(); ++v) {
    if (uses.producer[v] >= 0 || !has_channel_steps(g.values[v].type)) continue;
    steps[v] = steps_of_given(g.values[v]);
    like[v].resize(steps[v].size());
    std::iota(like[v].begin(), like[v].end(), 0);
  }
  for (size_t n = 0; n < g.nodes.size(); ++n) {
    const Node& node = g.nodes[n];
    const auto has_few = [&](ValueId v) { return channels_of(g.type(v)) <= kMaxChannels; };
    if (std::ranges::all_of(node.inputs, has_few) && std::ranges::all_of(node.outputs, has_few)) {
      nodes[n].layer = Int8Layer::of(g, node, target);
      nodes[n].ties = channel_ties(g, node);
      if (is_layer(node.op) && !nodes[n].layer) nodes[n].ties.reset();
    }
    for (const ValueId v : node.outputs) {
      if (!has_channel_steps(g.type(v))) continue;
      steps[v] = node.outputs.size() == 1 ? StepsOf(g, target, node, nodes[n], steps).find()
                                          : std::vector<Steps>(channels_of(g.type(v)));
      like[v] =
          node.outputs.size() == 1 ? Recipe(g, node, nodes[n], like).like() : std::vector<i32>();
      if (like[v].empty())
        like[v].resize(steps[v].size()), std::iota(like[v].begin(), like[v].end(), 0);
    }
  }
}

}  // namespace deuteron
