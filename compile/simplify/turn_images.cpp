// SPDX-License-Identifier: Apache-2.0
#include "compile/simplify/turn_images.h"

#include <algorithm>
#include <map>

#include "base/tensor/axes.h"
#include "compile/place/min_cut.h"
#include "ir/rewrite/borders.h"
#include "ops/families.h"

namespace deuteron {
namespace {

const Axes kAxesToLast = {0, 2, 3, 1}, kAxesToFirst = {0, 3, 1, 2};
// What a call costs on either side, in bytes that a transpose moves in the same time.
constexpr i64 kCallBytes = 512;

enum ImageOrder : u8 { kUnknown, kFirst, kLast };
ImageOrder other_order(ImageOrder order) { return order == kFirst ? kLast : kFirst; }
const Axes& axes_to(ImageOrder order) { return order == kFirst ? kAxesToFirst : kAxesToLast; }

// An image under both orders: the value that an operator or a port makes, and what transposes in
// the graph make of it.
struct TurnedImage {
  std::vector<ValueId> values;   // first the one that is made
  ImageOrder stored = kUnknown;  // as it is made
  ValueId turned = -1;           // in the other order, once somebody wants it
};

// Whoever makes or reads images in one order: an operator, a port, or an order in itself, for all
// that cannot turn.
struct OrderMember {
  enum Kind : u8 { order, node, input, output } kind;
  i32 index;
  auto operator<=>(const OrderMember&) const = default;
};

class ImageTurner {
 public:
  ImageTurner(Graph& g, bool ports_may_turn)
      : g_(g),
        uses_(g),
        ports_may_turn_(ports_may_turn),
        written_(g.values.size()),
        seen_(g.nodes.size()),
        image_of_(g.values.size(), -1) {}

  void run() {
    for (NodeId n = 0; n < static_cast<NodeId>(g_.nodes.size()); ++n)
      if (is_transpose(n) && written_[g_.nodes[n].inputs[0]] == kUnknown && explore(n)) choose();
    if (images_.empty()) return;
    write();
    remove_dead(g_, ports_may_turn_ ? "absorbed by the dim order of an input or output"
                                    : "transposed where it costs less");
  }

 private:
  bool is_transpose(NodeId n) const {
    const Permute* permute = op_as<Permute>(g_, n);
    return permute && (permute->perm == kAxesToLast || permute->perm == kAxesToFirst);
  }
  ImageOrder order_after(NodeId transpose) const {
    return std::get<Permute>(g_.nodes[transpose].op).perm == kAxesToFirst ? kFirst : kLast;
  }
  // The transpose that makes `v` from the other order, in the component; else -1.
  NodeId transpose_above(ValueId v) const {
    const NodeId n = uses_.producer[v];
    if (n < 0 || !is_transpose(n) || written_[v] != order_after(n)) return -1;
    return written_[g_.nodes[n].inputs[0]] == other_order(written_[v]) ? n : -1;
  }

  // Computes the same along axes in the other order.
  bool can_turn(NodeId n) const {
    const Node& node = g_.nodes[n];
    if (node.outputs.size() != 1 || node.inputs.empty()) return false;
    const auto is_plain = [&](ValueId v) { return !g_.type(v).quant.per_channel(); };
    const auto is_constant = [&](ValueId v) { return is_constant_like(g_, uses_, v); };
    const auto fits = [&](ValueId v) {
      return is_plain(v) && (is_constant(v) || g_.type(v).rank() == 4);
    };
    if (g_.type(node.outputs[0]).rank() != 4 || !is_plain(node.outputs[0])) return false;
    if (!std::ranges::all_of(node.inputs, fits) || std::ranges::all_of(node.inputs, is_constant))
      return false;
    if (is_binary(node.op) || (is_elementwise(node.op) && node.inputs.size() == 1)) return true;
    const bool is_around = facts_of(node.op).storage == Storage::around_operands;
    return (node.inputs.size() == 1 || is_around) && reordered(node.op, kAxesToLast) &&
           reordered(node.op, kAxesToFirst);
  }

  // Notes how all values are written that hang together with this transpose; false: not in one way.
  bool explore(NodeId transpose) {
    values_.clear();
    bool is_sound = true;
    const auto reach = [&](ValueId v, ImageOrder order) {
      if (is_constant_like(g_, uses_, v)) return;
      if (written_[v] == kUnknown) written_[v] = order, values_.push_back(v);
      is_sound &= written_[v] == order && g_.type(v).rank() == 4 && !g_.type(v).quant.per_channel();
    };
    const auto pass_through = [&](NodeId n, ValueId v) {
      if (n < 0) return;
      const Node& node = g_.nodes[n];
      const ImageOrder order = written_[v];
      if (is_transpose(n)) {
        const bool is_read = node.inputs[0] == v;
        if ((order_after(n) == order) == is_read) return;
        reach(is_read ? node.outputs[0] : node.inputs[0], other_order(order));
      } else if (!seen_[n] && can_turn(n)) {
        seen_[n] = true;
        for (const ValueId x : node.inputs) reach(x, order);
        reach(node.outputs[0], order);
      }
    };
    reach(g_.nodes[transpose].inputs[0], other_order(order_after(transpose)));
    for (size_t i = 0; i < values_.size(); ++i) {
      pass_through(uses_.producer[values_[i]], values_[i]);
      for (const NodeId n : uses_.readers[values_[i]]) pass_through(n, values_[i]);
    }
    return is_sound;
  }

  bool port_may_turn(const Port& port) const {
    const bool is_last = written_[port.value] == kLast;
    return ports_may_turn_ && (is_last ? port.order == kAxesToLast : is_identity(port.order));
  }
  OrderMember fixed(ValueId v) const { return {OrderMember::order, written_[v]}; }
  OrderMember member(NodeId n, ValueId v) const {
    return seen_[n] ? OrderMember{OrderMember::node, n} : fixed(v);
  }
  OrderMember maker(ValueId v) const {
    if (uses_.producer[v] >= 0) return member(uses_.producer[v], v);
    const auto ports = g_.user_inputs();
    const auto at = std::ranges::find(ports, v, &Port::value);
    if (at == ports.end() || uses_.output_uses[v] > 0 || !port_may_turn(*at)) return fixed(v);
    return {OrderMember::input, static_cast<i32>(at - ports.begin())};
  }
  std::vector<OrderMember> readers(const TurnedImage& image) const {
    std::vector<OrderMember> found;
    for (const ValueId v : image.values) {
      for (const NodeId n : uses_.readers[v])
        if (!is_transpose(n) || transpose_above(g_.nodes[n].outputs[0]) != n)
          found.push_back(member(n, v));
      if (uses_.output_uses[v] == 0) continue;
      // An input that is an output too keeps its order.
      const auto users = static_cast<i32>(g_.user_outputs().size());
      const bool is_made = uses_.producer[image.values[0]] >= 0;
      for (i32 o = 0; o < static_cast<i32>(g_.outputs.size()); ++o) {
        if (g_.outputs[o].value != v) continue;
        const bool may_turn = o < users && is_made && port_may_turn(g_.outputs[o]);
        found.push_back(may_turn ? OrderMember{OrderMember::output, o} : fixed(v));
      }
    }
    return found;
  }
  i64 price(const TurnedImage& image) const {
    const Type& type = g_.type(image.values[0]);
    const Axes& turn = axes_to(other_order(written_[image.values[0]]));
    return moves_nothing(turn, type.shape) ? 0 : type.bytes() + kCallBytes;
  }

  std::vector<TurnedImage> images_of_component() const {
    std::vector<TurnedImage> images;
    std::map<ValueId, size_t> at;  // by the value that is made
    std::vector<ValueId> made(values_);
    for (ValueId& v : made)
      for (NodeId n; (n = transpose_above(v)) >= 0;) v = g_.nodes[n].inputs[0];
    for (const ValueId v : values_)
      if (transpose_above(v) < 0) at[v] = images.size(), images.push_back({{v}});
    for (size_t k = 0; k < values_.size(); ++k)
      if (made[k] != values_[k]) images[at.at(made[k])].values.push_back(values_[k]);
    return images;
  }

  ImageOrder as_written(const OrderMember& m) const {
    if (m.kind == OrderMember::order) return static_cast<ImageOrder>(m.index);
    if (m.kind == OrderMember::node) return written_[g_.nodes[m.index].outputs[0]];
    return written_[(m.kind == OrderMember::input ? g_.inputs : g_.outputs)[m.index].value];
  }

  // The cheapest orders of a component, where they are cheaper than what is there.
  void choose() {
    std::vector<TurnedImage> images = images_of_component();
    std::map<OrderMember, i32> ids;
    TwoSides sides;  // here: channels-first
    const auto id = [&](const OrderMember& m) {
      const auto [at, is_new] = ids.try_emplace(m, static_cast<i32>(sides.here.size()));
      if (is_new) {
        sides.here.push_back(m == OrderMember{OrderMember::order, kLast} ? kNever : 0);
        sides.there.push_back(m == OrderMember{OrderMember::order, kFirst} ? kNever : 0);
      }
      return at->second;
    };
    i64 before = 0;
    for (const TurnedImage& image : images) {
      const OrderMember from = maker(image.values[0]);
      const std::vector<OrderMember> to = readers(image);
      const i64 cost = price(image);
      const ImageOrder written = as_written(from);
      if (std::ranges::any_of(to, [&](const OrderMember& m) { return as_written(m) != written; }))
        before += cost;
      // The image in each order: it is made in one, and a transpose makes the other for all who
      // want it.
      const i32 made = id(from), first = static_cast<i32>(sides.here.size()), last = first + 1;
      sides.here.insert(sides.here.end(), 2, 0), sides.there.insert(sides.there.end(), 2, 0);
      sides.one_way.push_back({first, made, cost});
      sides.one_way.push_back({made, last, cost});
      for (const OrderMember& m : to) {
        const i32 reader = id(m);
        sides.one_way.push_back({reader, first, kNever});
        sides.one_way.push_back({last, reader, kNever});
      }
    }
    if (before == 0) return;
    const std::vector<bool> is_first = cheapest_sides(sides);
    const auto order = [&](const OrderMember& m) { return is_first[ids.at(m)] ? kFirst : kLast; };
    i64 after = 0;
    for (TurnedImage& image : images) {
      image.stored = order(maker(image.values[0]));
      const auto wants_other = [&](const OrderMember& m) { return order(m) != image.stored; };
      if (std::ranges::any_of(readers(image), wants_other)) after += price(image);
    }
    if (after >= before) return;
    for (const auto& [m, k] : ids) chosen_[m] = is_first[k] ? kFirst : kLast;
    for (TurnedImage& image : images) {
      for (const ValueId v : image.values) image_of_[v] = static_cast<i32>(images_.size());
      images_.push_back(std::move(image));
    }
  }

  // TurnedImage `v` in an order, transposed if need be in front of who wants it.
  ValueId in_order(ValueId v, ImageOrder order, const Origin& reader) {
    TurnedImage& image = images_[image_of_[v]];
    const ValueId made = image.values[0];
    if (image.stored == order) return made;
    if (image.turned >= 0) return image.turned;
    const auto there = std::find_if(image.values.begin() + 1, image.values.end(),
                                    [&](ValueId x) { return written_[x] == order; });
    Origin origin = reader;
    if (there != image.values.end()) {
      image.turned = *there;
      origin = old_[uses_.producer[*there]].origin;
      old_[uses_.producer[*there]].outputs.clear();
    } else {
      Type type = g_.type(made);
      type.shape = permuted(type.shape, axes_to(order));
      image.turned = g_.add_value(g_.values[made].name, std::move(type));
    }
    g_.nodes.push_back({Permute{axes_to(order)}, {made}, {image.turned}, std::move(origin)});
    return image.turned;
  }
  ValueId constant_in_order(ValueId v, ImageOrder order, const Origin& reader) {
    Type type = g_.type(v);
    const std::string name = g_.values[v].name;
    if (type.rank() < 4) {
      type.shape.insert(type.shape.begin(), static_cast<size_t>(4 - type.rank()), 1);
      v = g_.add_node(Reshape{type.shape}, {v}, {type}, name, reader);
    }
    type.shape = permuted(type.shape, axes_to(order));
    return g_.add_node(Permute{axes_to(order)}, {v}, {type}, name, reader);
  }

  void write() {
    for (const TurnedImage& image : images_)
      if (Type& type = g_.values[image.values[0]].type; image.stored != written_[image.values[0]])
        type.shape = permuted(type.shape, axes_to(image.stored));
    old_ = std::move(g_.nodes);
    g_.nodes.clear();
    std::vector<size_t> transposes;
    for (size_t n = 0; n < old_.size(); ++n) {
      const ValueId result = old_[n].outputs.empty() ? -1 : old_[n].outputs[0];
      const i32 image = result < 0 ? -1 : image_of(result);
      if (image >= 0 && images_[image].values[0] != result) transposes.push_back(n);
      else if (result >= 0) write_node(static_cast<NodeId>(n));
    }
    const size_t users = g_.user_outputs().size();
    for (size_t o = 0; o < g_.outputs.size(); ++o) {
      Port& port = g_.outputs[o];
      if (image_of(port.value) < 0) continue;
      const OrderMember member{OrderMember::output, static_cast<i32>(o)};
      const auto at = o < users ? chosen_.find(member) : chosen_.end();
      const ImageOrder is = written_[port.value], to = at == chosen_.end() ? is : at->second;
      const NodeId above = uses_.producer[port.value];
      port.value = in_order(port.value, to, above < 0 ? Origin{} : old_[above].origin);
      if (to != is) port.order = to == kLast ? kAxesToLast : Axes{0, 1, 2, 3};
    }
    for (const auto& [m, to] : chosen_)
      if (m.kind == OrderMember::input)
        g_.inputs[m.index].order = to == kLast ? kAxesToLast : Axes{0, 1, 2, 3};
    // Dead now: whoever read one reads the image. Its user's operators stay known.
    for (const size_t n : transposes)
      if (!old_[n].outputs.empty()) g_.nodes.push_back(std::move(old_[n]));
  }
  i32 image_of(ValueId v) const {
    return v < static_cast<ValueId>(image_of_.size()) ? image_of_[v] : -1;
  }

  void write_node(NodeId n) {
    Node node = old_[n];
    const auto at = chosen_.find({OrderMember::node, n});
    const bool turns = at != chosen_.end() && at->second != written_[node.outputs[0]];
    for (ValueId& v : node.inputs) {
      const ImageOrder wanted = at == chosen_.end() ? written_[v] : at->second;
      if (image_of(v) >= 0) v = in_order(v, wanted, node.origin);
      else if (turns) v = constant_in_order(v, at->second, node.origin);
    }
    if (turns && !is_binary(node.op) && !is_elementwise(node.op))
      node.op = *reordered(node.op, axes_to(other_order(at->second)));
    g_.nodes.push_back(std::move(node));
  }

  Graph& g_;
  const Uses uses_;
  const bool ports_may_turn_;
  std::vector<ImageOrder> written_;  // by value
  std::vector<bool> seen_;           // by node
  std::vector<ValueId> values_;      // of the component that is looked at
  std::map<OrderMember, ImageOrder> chosen_;
  std::vector<TurnedImage> images_;
  std::vector<i32> image_of_;  // by value; -1: it stays as it is
  std::vector<Node> old_;
};

}  // namespace

void turn_images(Graph& g, bool ports_may_turn) { ImageTurner(g, ports_may_turn).run(); }

}  // namespace deuteron
