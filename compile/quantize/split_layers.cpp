// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/split_layers.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "compile/quantize/channel_lines.h"
#include "compile/quantize/channel_sizes.h"
#include "ops/families.h"

namespace deuteron {
namespace {

constexpr i64 kMaxElements = i64{1} << 20;  // of a result that is looked at number by number

// Some indices of one axis of a value, all of the others.
struct Picked {
  i64 axis = 0;
  std::vector<i64> index;
};

std::vector<float> counted(i64 elements) {
  std::vector<float> all(static_cast<size_t>(elements));
  std::iota(all.begin(), all.end(), 0.0f);
  return all;
}
// Which element of its operand, of that shape, each of a move's result is. Exact up to 2^24.
std::vector<float> moved(const Op& op, const Shape& from, const Shape& to) {
  const Type x{DType::f32, from, {}}, y{DType::f32, to, {}};
  std::vector<float> operand = counted(numel(from)), result(static_cast<size_t>(numel(to)));
  const std::vector<HostTensor> in{{&x, operand.data()}}, out{{&y, result.data()}};
  execute(op, in, out);
  return result;
}
std::vector<float> picked(const Picked& p, const Shape& from) {
  std::vector<float> result;
  const i64 inner = numel(std::span(from).subspan(static_cast<size_t>(p.axis) + 1));
  const i64 extent = from[p.axis];
  for (i64 outer = 0; outer < numel(from) / (extent * inner); ++outer)
    for (const i64 k : p.index)
      for (i64 i = 0; i < inner; ++i)
        result.push_back(static_cast<float>((outer * extent + k) * inner + i));
  return result;
}
Shape shape_of(const Picked& p, Shape from) {
  from[p.axis] = static_cast<i64>(p.index.size());
  return from;
}

// The axis and the indices, as they come, whose elements these are; nothing where there is none.
std::optional<Picked> axis_of(const std::vector<float>& elements, const Shape& from) {
  const std::set<float> wanted(elements.begin(), elements.end());
  i64 step = 1;
  for (size_t axis = from.size(); axis-- > 0; step *= from[axis]) {
    Picked p{static_cast<i64>(axis), {}};
    std::vector<bool> is_there(static_cast<size_t>(from[axis]));
    for (const float e : elements) {
      const i64 k = static_cast<i64>(e) / step % from[axis];
      if (!is_there[k]) p.index.push_back(k);
      is_there[k] = true;
    }
    if (static_cast<i64>(p.index.size()) == from[axis]) continue;
    const std::vector<float> all = picked(p, from);
    if (all.size() == elements.size() && std::set(all.begin(), all.end()) == wanted) return p;
  }
  return std::nullopt;
}

bool is_move(const Graph& g, const Node& node) {
  const Values values = facts_of(node.op).values;
  return is_movement(node.op) && (values == Values::moved || values == Values::same) &&
         node.inputs.size() == 1 && g.type(node.inputs[0]).elements() <= kMaxElements;
}

// A part of what a layer makes: the channels, and the moves on the way, the last of which makes
// `result`.
struct Part {
  std::vector<i64> channels;
  std::vector<NodeId> moves;
  std::vector<Shape> shapes;  // behind each move
  ValueId result = -1;
  double step = 0;
};

class LayerSplitter {
 public:
  LayerSplitter(Graph& g, std::vector<Observation>& observations, std::vector<Observation>& reached)
      : g_(g), observations_(observations), reached_(reached), uses_(g) {}

  int run() {
    int split = 0;
    for (size_t n = 0; n < g_.nodes.size(); ++n) {
      const Node& layer = g_.nodes[n];
      const bool is_known = makes_channels(g_, layer) && sums_channels(g_, layer, layer.inputs[0]);
      if (!is_known || !observations_[layer.outputs[0]].seen) continue;
      std::vector<Part> parts = parts_of(layer.outputs[0]);
      if (parts.empty() || overlap(layer, parts)) continue;
      std::ranges::sort(parts, {}, &Part::step);
      for (size_t from = 0, to = 0; from < parts.size(); from = to) {
        while (to < parts.size() && parts[to].step < kCoarse * parts[from].step) ++to;
        put_layer(static_cast<NodeId>(n), std::span(parts).subspan(from, to - from));
      }
      gone_.insert(static_cast<NodeId>(n));
      ++split;
    }
    if (split > 0) rebuild();
    return split;
  }

 private:
  // Empty where something else reads the layer's result, or a part of it that is none of its
  // channels.
  std::vector<Part> parts_of(ValueId y) const {
    std::vector<Part> parts;
    ValueId end = y;
    std::vector<NodeId> moves;
    while (uses_.has_single_reader(end) && moves_all(uses_.readers[end][0])) {
      moves.push_back(uses_.readers[end][0]);
      end = g_.nodes[moves.back()].outputs[0];
    }
    if (uses_.output_uses[end] > 0 || !differ(uses_.readers[end])) return {};
    for (const NodeId n : uses_.readers[end]) {
      std::optional<Part> part = part_of(moves, n);
      if (!part) return {};
      parts.push_back(*std::move(part));
    }
    return parts;
  }
  // All of them move something, to results whose steps are far enough from each other.
  bool differ(const std::vector<NodeId>& readers) const {
    const auto moves_it = [&](NodeId n) { return is_move(g_, g_.nodes[n]); };
    if (readers.size() < 2 || !std::ranges::all_of(readers, moves_it)) return false;
    std::vector<double> steps;
    for (const NodeId n : readers) steps.push_back(step(g_.nodes[n].outputs[0]));
    const auto [finest, coarsest] = std::ranges::minmax(steps);
    return finest > 0 && coarsest >= kCoarse * finest;
  }
  double step(ValueId v) const { return SeenRanges{observations_, reached_}.step(v); }
  bool moves_all(NodeId n) const {
    const Node& node = g_.nodes[n];
    return is_move(g_, node) &&
           g_.type(node.inputs[0]).elements() == g_.type(node.outputs[0]).elements();
  }
  // The slice in front of the moves: the same numbers.
  std::optional<Part> part_of(const std::vector<NodeId>& moves, NodeId slice) const {
    if (!is_move(g_, g_.nodes[slice])) return std::nullopt;
    const ValueId from = g_.nodes[slice].inputs[0], result = g_.nodes[slice].outputs[0];
    Part part;
    part.result = result;
    part.step = step(result);
    const Shape &whole = g_.type(from).shape, &some = g_.type(result).shape;
    const std::vector<float> elements = moved(g_.nodes[slice].op, whole, some);
    std::optional<Picked> p = axis_of(elements, whole);
    if (!p || picked(*p, whole) != elements || shape_of(*p, whole) != some) return std::nullopt;
    for (size_t k = moves.size(); k-- > 0;) {
      const Shape behind = shape_of(*p, g_.type(g_.nodes[moves[k]].outputs[0]).shape);
      p = in_front(g_.nodes[moves[k]], *p);
      if (!p) return std::nullopt;
      part.moves.insert(part.moves.begin(), moves[k]);
      part.shapes.insert(part.shapes.begin(), behind);
    }
    const ValueId y = moves.empty() ? from : g_.nodes[moves[0]].inputs[0];
    if (p->axis != g_.type(y).rank() - 1) return std::nullopt;
    part.channels = std::move(p->index);
    return part;
  }
  // What must be picked of the move's operand; nothing where a move of that is not what is picked
  // behind it.
  std::optional<Picked> in_front(const Node& move, const Picked& behind) const {
    const Shape &x = g_.type(move.inputs[0]).shape, &y = g_.type(move.outputs[0]).shape;
    const std::vector<float> all = moved(move.op, x, y);
    std::vector<float> wanted;
    for (const float e : picked(behind, y)) wanted.push_back(all[static_cast<size_t>(e)]);
    const std::optional<Picked> p = axis_of(wanted, x);
    if (!p) return std::nullopt;
    const std::vector<float> kept = picked(*p, x);
    std::vector<float> found;
    const Op op = of_shape(move.op, shape_of(behind, y));
    for (const float e : moved(op, shape_of(*p, x), shape_of(behind, y)))
      found.push_back(kept[static_cast<size_t>(e)]);
    return found == wanted ? p : std::nullopt;
  }
  static Op of_shape(const Op& move, const Shape& shape) {
    return facts_of(move).values == Values::same ? reshape_to(shape) : move;
  }

  bool overlap(const Node& layer, const std::vector<Part>& parts) const {
    size_t channels = 0;
    for (const Part& part : parts) channels += part.channels.size();
    return static_cast<i64>(channels) > g_.type(layer.outputs[0]).shape.back();
  }

  // ---- writing

  // A layer for these parts, and a slice for each where they are several.
  void put_layer(NodeId n, std::span<const Part> parts) {
    std::vector<i64> channels;
    for (const Part& part : parts)
      channels.insert(channels.end(), part.channels.begin(), part.channels.end());
    const ValueId y = g_.nodes[n].outputs[0];
    Shape shape = g_.type(y).shape;
    shape.back() = static_cast<i64>(channels.size());
    const bool is_result = parts.size() == 1 && parts[0].moves.empty();
    const ValueId all = is_result ? parts[0].result : new_value(y, shape, channels);
    std::vector<Node>& out = put_[n];
    out.push_back(layer_of_channels(g_, g_.nodes[n], channels, all));
    i64 first = 0;
    for (const Part& part : parts) {
      const auto count = static_cast<i64>(part.channels.size());
      ValueId v = all;
      if (parts.size() > 1) {
        shape.back() = count;
        v = part.moves.empty() ? part.result : new_value(y, shape, part.channels);
        const auto axis = static_cast<i64>(shape.size()) - 1;
        const Slice slice{.axis = axis, .start = first, .count = count};
        out.push_back({slice, {all}, {v}, g_.nodes[n].origin});
      }
      put_moves(part, v, out);
      first += count;
      gone_.insert(uses_.producer[part.result]);
      gone_.insert(part.moves.begin(), part.moves.end());
    }
  }
  void put_moves(const Part& part, ValueId v, std::vector<Node>& out) {
    for (size_t k = 0; k < part.moves.size(); ++k) {
      const Node& move = g_.nodes[part.moves[k]];
      const bool is_last = k + 1 == part.moves.size();
      const ValueId to = is_last ? part.result : new_value(move.outputs[0], part.shapes[k], {});
      out.push_back({of_shape(move.op, part.shapes[k]), {v}, {to}, move.origin});
      v = to;
    }
  }

  ValueId new_value(ValueId like, const Shape& shape, const std::vector<i64>& channels) {
    const ValueId v = g_.add_value(g_.values[like].name + ".part", Type{DType::f32, shape, {}});
    for (std::vector<Observation>* seen : {&observations_, &reached_}) {
      seen->resize(g_.values.size());
      if (!channels.empty()) (*seen)[v] = of_channels((*seen)[like], channels);
    }
    return v;
  }
  static Observation of_channels(const Observation& all, const std::vector<i64>& channels) {
    Observation own = all;
    own.channel_mean.clear(), own.channel_low.clear(), own.channel_high.clear();
    if (all.channel_low.empty()) return own;
    for (const i64 c : channels) {
      own.channel_mean.push_back(all.channel_mean[c]);
      own.channel_low.push_back(all.channel_low[c]);
      own.channel_high.push_back(all.channel_high[c]);
    }
    return bounded(own, std::ranges::min(own.channel_low), std::ranges::max(own.channel_high));
  }

  void rebuild() {
    std::vector<Node> nodes;
    for (size_t n = 0; n < g_.nodes.size(); ++n) {
      const auto id = static_cast<NodeId>(n);
      if (const auto put = put_.find(id); put != put_.end())
        std::ranges::move(put->second, std::back_inserter(nodes));
      if (!gone_.contains(id)) nodes.push_back(std::move(g_.nodes[n]));
    }
    g_.nodes = std::move(nodes);
  }

  Graph& g_;
  std::vector<Observation>&observations_, &reached_;
  const Uses uses_;
  std::map<NodeId, std::vector<Node>> put_;  // in the place of a layer
  std::set<NodeId> gone_;
};

}  // namespace

int split_layers(Graph& g, std::vector<Observation>& observations,
                 std::vector<Observation>& reached) {
  return LayerSplitter(g, observations, reached).run();
}

}  // namespace deuteron
