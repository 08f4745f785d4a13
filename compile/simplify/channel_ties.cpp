// SPDX-License-Identifier: Apache-2.0
#include "compile/simplify/channel_ties.h"

#include <algorithm>
#include <set>

#include "ops/families.h"
#include "ops/visit_fields.h"

namespace deuteron {

namespace {

// For each channel: who has more moves elements from channel to channel.
constexpr i64 kMaxTies = 4;
constexpr float kFromHere = 4096;  // numbers the channels of the operands, beyond what paddings are

class TieFinder {
 public:
  TieFinder(const Graph& g, const Node& node) : g_(g), node_(node), y_(g.type(node.outputs[0])) {}

  std::optional<ChannelTies> find() {
    if (channels_of(y_) == 0) return std::nullopt;
    const Family family = facts_of(node_.op).family;
    bool found = false;
    if (family == Family::elementwise || family == Family::binary || family == Family::pool)
      found = each_operand();
    else if (family == Family::movement) found = follow_elements();
    else if (family == Family::layer) found = depthwise();
    if (!found) return std::nullopt;
    std::ranges::stable_sort(found_.ties, {}, &ChannelTie::to);
    return std::move(found_);
  }

 private:
  // Channel for channel, or one for all.
  bool each_operand() {
    for (size_t k = 0; k < node_.inputs.size(); ++k) {
      const ValueId v = node_.inputs[k];
      if (g_.is_constant(v)) continue;
      if (channels(v) != channels_of(y_)) found_.whole.push_back(k);
      else
        for (i64 c = 0; c < channels(v); ++c) found_.ties.push_back({k, c, c});
    }
    return true;
  }

  // Every group of a convolution has one input channel.
  bool depthwise() {
    const Shape& w = g_.type(node_.inputs[1]).shape;
    const i64 in = channels(node_.inputs[0]), out = channels_of(y_);
    if (w.size() != 4 || w.back() != 1 || in < 2 || out % in != 0) return false;
    for (i64 o = 0; o < out; ++o) found_.ties.push_back({0, o / (out / in), o});
    return true;
  }

  // What is moved is seen where elements are the numbers of their channels.
  bool follow_elements() {
    const Values values = facts_of(node_.op).values;
    if (values != Values::same && values != Values::moved && values != Values::padded) return false;
    if (std::ranges::any_of(node_.inputs, [&](ValueId v) { return g_.is_constant(v); }))
      return false;
    std::vector<Type> types;
    std::vector<std::vector<float>> data;
    std::vector<ChannelTie> numbered;  // by number
    for (size_t k = 0; k < node_.inputs.size(); ++k) {
      types.push_back({DType::f32, g_.type(node_.inputs[k]).shape, {}});
      const i64 count = channels(node_.inputs[k]);
      if (count == 0) return false;
      std::vector<float>& x = data.emplace_back();
      for (i64 i = 0; i < types.back().elements(); ++i)
        x.push_back(kFromHere + static_cast<float>(static_cast<i64>(numbered.size()) + i % count));
      for (i64 c = 0; c < count; ++c) numbered.push_back({k, c, 0});
    }
    const Type type{DType::f32, y_.shape, {}};
    std::vector<float> y(static_cast<size_t>(type.elements()));
    std::vector<HostTensor> in;
    for (size_t k = 0; k < data.size(); ++k) in.push_back({&types[k], data[k].data()});
    const HostTensor out{&type, y.data()};
    execute(node_.op, in, {&out, 1});
    return read_numbers(y, numbered);
  }

  bool read_numbers(std::span<const float> y, std::span<const ChannelTie> numbered) {
    const auto count = static_cast<size_t>(channels_of(y_));
    const size_t limit = static_cast<size_t>(kMaxTies) * std::max(count, numbered.size());
    found_.is_padded.resize(count);
    for (size_t c = 0; c < count; ++c) {
      std::vector<float> numbers;
      for (size_t k = c; k < y.size(); k += count)
        if (numbers.empty() || numbers.back() != y[k]) numbers.push_back(y[k]);
      std::ranges::sort(numbers);
      numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
      for (const float number : numbers) {
        if (number < kFromHere) found_.is_padded[c] = true, found_.padding = number;
        else if (const auto at = static_cast<size_t>(number - kFromHere); at >= numbered.size())
          return false;
        else found_.ties.push_back({numbered[at].operand, numbered[at].from, static_cast<i64>(c)});
      }
      if (found_.ties.size() > limit) return false;
    }
    return true;
  }

  i64 channels(ValueId v) const { return channels_of(g_.type(v)); }

  const Graph& g_;
  const Node& node_;
  const Type& y_;
  ChannelTies found_;
};

i64 count_below(const std::vector<i64>& sorted, i64 end) {
  return std::ranges::lower_bound(sorted, end) - sorted.begin();
}

bool has_shape(const Op& op, std::vector<Type> in, const Shape& expected) {
  std::vector<const Type*> types;
  for (const Type& t : in) types.push_back(&t);
  const auto found = infer(op, TypeView(types));
  return found && (*found)[0].shape == expected;
}

// The attributes that count channels or name one, by what the text form calls them.
struct Attributes {
  i64 last_axis, channels;  // of operand 0; of the result
  const std::vector<i64>&from, &to;

  void edit(Op& op) const {
    i64 axis = -1;
    visit_fields(op, [&](std::string_view name, auto& field) { set(name, field, axis); });
  }

 private:
  static void set(std::string_view, auto&, i64&) {}
  void set(std::string_view name, i64& field, i64& axis) const {
    if (name == "axis") axis = field;
    if (name == "groups") field = static_cast<i64>(from.size());
    if (axis == last_axis && name == "start") field = count_below(from, field);
    if (axis == last_axis && name == "count") field = static_cast<i64>(to.size());
  }
  void set(std::string_view name, Axes& field, i64&) const {
    if (name == "shape") field.back() = static_cast<i64>(to.size());
    if (name == "before") field.back() = count_below(to, field.back());
    if (name == "after")
      field.back() = static_cast<i64>(to.size()) - count_below(to, channels - field.back());
  }
};

// Every second channel, say: where some are gone the others are not every second one any more.
bool skips_channels(const ChannelTies& ties, i64 channels) {
  if (static_cast<i64>(ties.ties.size()) > channels) return false;
  for (size_t k = 1; k < ties.ties.size(); ++k) {
    const ChannelTie &before = ties.ties[k - 1], &tie = ties.ties[k];
    const bool is_next = tie.from == before.from + 1 || tie.from == ties.ties[0].from;
    if (tie.operand == before.operand && !is_next) return true;
  }
  return false;
}

// Whether the operator can lose channels: tried with the first one of each operand, and what is
// tied to them.
bool can_lose_channels(const Graph& g, const Node& node, const ChannelTies& ties) {
  if (facts_of(node.op).family != Family::movement) return true;
  if (skips_channels(ties, channels_of(g.type(node.outputs[0])))) return false;
  std::vector<std::set<i64>> from(node.inputs.size(), {0});
  std::set<i64> to;
  for (size_t before = 0, now = from.size(); now != before;) {
    before = now;
    for (const ChannelTie& t : ties.ties)
      if (from[t.operand].contains(t.from) || to.contains(t.to))
        from[t.operand].insert(t.from), to.insert(t.to);
    now = to.size();
    for (const std::set<i64>& f : from) now += f.size();
  }
  if (to.empty()) return true;  // a part without the first one
  std::vector<Type> in;
  for (size_t k = 0; k < from.size(); ++k) {
    in.push_back(g.type(node.inputs[k]));
    in.back().shape.back() = static_cast<i64>(from[k].size());
  }
  Shape y = g.type(node.outputs[0]).shape;
  y.back() = static_cast<i64>(to.size());
  const std::vector<i64> kept_from(from[0].begin(), from[0].end()), kept_to(to.begin(), to.end());
  return has_shape(with_channels(g, node, kept_from, kept_to), std::move(in), y);
}

}  // namespace

std::optional<ChannelTies> channel_ties(const Graph& g, const Node& node) {
  if (node.outputs.size() != 1 || node.inputs.empty()) return std::nullopt;
  std::optional<ChannelTies> found = TieFinder(g, node).find();
  return found && can_lose_channels(g, node, *found) ? found : std::nullopt;
}

Op with_channels(const Graph& g, const Node& node, const std::vector<i64>& from,
                 const std::vector<i64>& to) {
  Op op = node.op;
  const i64 last_axis = g.type(node.inputs[0]).rank() - 1;
  Attributes{last_axis, channels_of(g.type(node.outputs[0])), from, to}.edit(op);
  return op;
}

}  // namespace deuteron
