// SPDX-License-Identifier: Apache-2.0
#include "ir/rewrite/view_rules.h"

#include <algorithm>

#include "ir/rewrite/borders.h"
#include "ops/families.h"
#include "ops/permute/collapse.h"

namespace deuteron {

bool is_view(const Op& op) {
  return std::holds_alternative<Permute>(op) || std::holds_alternative<Reshape>(op);
}

ValueId behind_views(const Graph& g, const Uses& uses, ValueId v) {
  while (uses.producer[v] >= 0 && is_view(g.nodes[uses.producer[v]].op))
    v = g.nodes[uses.producer[v]].inputs[0];
  return v;
}

// The axis of per-channel parameters after a permute.
static Quant permuted(Quant quant, const Axes& perm) {
  if (quant.per_channel()) quant.axis = static_cast<i32>(inverse(perm)[quant.axis]);
  return quant;
}

template <class Word>
static Constant permute_words(const Constant& data, const Shape& shape, const Axes& perm) {
  const std::span<const Word> from = data.as<Word>();
  std::vector<Word> to(from.size());
  Shape stride(shape.size(), 1);
  for (size_t k = shape.size(); k-- > 1;) stride[k - 1] = stride[k] * shape[k];
  const Shape extents = permuted(shape, perm), steps = permuted(stride, perm);
  Shape at(extents.size(), 0);
  i64 source = 0;
  for (Word& word : to) {
    word = from[source];
    for (size_t k = extents.size(); k-- > 0;) {
      source += steps[k];
      if (++at[k] < extents[k]) break;
      source -= steps[k] * extents[k];
      at[k] = 0;
    }
  }
  return constant_of(std::move(to));
}

static Constant permute_constant(const Constant& data, const Type& type, const Axes& perm) {
  switch (bytes_of(type.dtype)) {
    case 1:
      return permute_words<uint8_t>(data, type.shape, perm);
    case 2:
      return permute_words<uint16_t>(data, type.shape, perm);
    case 4:
      return permute_words<uint32_t>(data, type.shape, perm);
    default:
      return permute_words<uint64_t>(data, type.shape, perm);
  }
}

// permute(constant)   becomes   constant
static std::optional<Patch> fold_permute_of_constant(const Permute& p, const Graph& g, const Uses&,
                                                     NodeId root) {
  if (!g.is_constant(g.nodes[root].inputs[0])) return std::nullopt;
  const GraphValue& from = g.values[g.nodes[root].inputs[0]];
  PatchBuilder b(g, root, "folded into a constant");
  const Type type{from.type.dtype, permuted(from.type.shape, p.perm),
                  permuted(from.type.quant, p.perm)};
  return b.replace_root(
      b.constant(type, permute_constant(*from.constant, from.type, p.perm), from.name));
}

// Per-channel parameters survive a reshape where an axis of the result tells the channel: the axis
// itself, or one that it was merged into, which then has each channel's parameters for `repeat`
// elements in a row, and all channels' as often as they come around.
static std::optional<Quant> reshaped(const Quant& quant, const Shape& from, const Shape& to) {
  if (!quant.per_channel()) return quant;
  const auto behind = [](const Shape& s, size_t axis) {
    return numel(std::span(s).subspan(axis + 1));
  };
  const i64 channels = from[quant.axis], inner = behind(from, static_cast<size_t>(quant.axis));
  const auto tells_channel = [&](size_t axis) {
    const i64 step = behind(to, axis);
    if (step < 1 || inner < 1 || inner % step != 0) return false;
    return numel(std::span(to).first(axis)) == 1 || to[axis] % (inner / step * channels) == 0;
  };
  size_t axis = static_cast<size_t>(quant.axis);
  if (axis >= to.size() || !tells_channel(axis))
    for (axis = 0; axis < to.size() && !tells_channel(axis);) ++axis;
  if (axis == to.size()) return std::nullopt;
  const i64 repeat = inner / behind(to, axis);
  Quant result = quant;
  result.axis = static_cast<i32>(axis);
  result.scale.clear(), result.zero_point.clear();
  for (i64 k = 0; k < to[axis]; ++k) {
    const size_t channel = static_cast<size_t>(k / repeat % channels);
    result.scale.push_back(quant.scale[channel]),
        result.zero_point.push_back(quant.zero_point[channel]);
  }
  return result;
}

// reshape(constant)   becomes   constant
static std::optional<Patch> fold_reshape_of_constant(const Reshape& r, const Graph& g, const Uses&,
                                                     NodeId root) {
  if (!g.is_constant(g.nodes[root].inputs[0])) return std::nullopt;
  const GraphValue& from = g.values[g.nodes[root].inputs[0]];
  const std::optional<Quant> quant = reshaped(from.type.quant, from.type.shape, r.shape);
  if (!quant) return std::nullopt;
  PatchBuilder b(g, root, "folded into a constant");
  return b.replace_root(b.constant({from.type.dtype, r.shape, *quant}, *from.constant, from.name));
}

static std::optional<Quant> moved_quant(const Permute& p, const Type& type) {
  return permuted(type.quant, p.perm);
}
static std::optional<Quant> moved_quant(const Reshape& r, const Type& type) {
  return reshaped(type.quant, type.shape, r.shape);
}

// permute(dequantize(constant))   becomes   dequantize(permute(constant)); reshape likewise
template <class View>
static std::optional<Patch> move_above_dequantize(const View& view, const Graph& g,
                                                  const Uses& uses, NodeId root) {
  const ValueId constant = dequantized(g, uses, g.nodes[root].inputs[0]);
  if (constant < 0 || !g.is_constant(constant)) return std::nullopt;
  const std::optional<Quant> quant = moved_quant(view, g.type(constant));
  if (!quant) return std::nullopt;
  PatchBuilder b(g, root, "folded into a constant");
  const ValueId moved = b.add(view, {constant}, *quant, g.values[constant].name);
  return b.replace_root(Dequantize{}, {moved});
}

// permute(permute(x))   becomes   permute(x)
// Not in int8 where the kernel takes each of the two and not the one: that had just been split.
static std::optional<Patch> merge_permutes(const Permute& second, const Graph& g, const Uses& uses,
                                           NodeId root) {
  const NodeId above = producer_as<Permute>(g, uses, g.nodes[root].inputs[0]);
  if (above < 0) return std::nullopt;
  const Permute& first = std::get<Permute>(g.nodes[above].op);
  Permute both;
  for (const i64 axis : second.perm) both.perm.push_back(first.perm[axis]);
  const Type &x = g.type(g.nodes[above].inputs[0]), &between = g.type(g.nodes[root].inputs[0]);
  const auto fits = [](const Type& t, const Permute& p) {
    return collapse(t.shape, p.perm).shape.size() <= kKernelAxes;
  };
  if (x.dtype == DType::s8 && fits(x, first) && fits(between, second) && !fits(x, both))
    return std::nullopt;
  PatchBuilder b(g, root, "two permutes in a row");
  if (is_identity(both.perm)) return b.replace_root(g.nodes[above].inputs[0]);
  return b.replace_root(both, {g.nodes[above].inputs[0]});
}

// permute that moves only axes of one element   becomes   reshape
static std::optional<Patch> permute_to_reshape(const Permute& p, const Graph& g, const Uses&,
                                               NodeId root) {
  const Type& x = g.type(g.nodes[root].inputs[0]);
  if (x.quant.per_channel() || !moves_nothing(p.perm, x.shape)) return std::nullopt;
  PatchBuilder b(g, root, "moves only axes of one element");
  return b.replace_root(Reshape{permuted(x.shape, p.perm)}, g.nodes[root].inputs);
}

// reshape(reshape(x))   becomes   reshape(x)
static std::optional<Patch> merge_reshapes(const Reshape& second, const Graph& g, const Uses& uses,
                                           NodeId root) {
  const NodeId above = producer_as<Reshape>(g, uses, g.nodes[root].inputs[0]);
  if (above < 0) return std::nullopt;
  PatchBuilder b(g, root, "two reshapes in a row");
  return b.replace_root(second, {g.nodes[above].inputs[0]});
}

// reshape to the same shape, clamp without bounds   becomes   nothing
static std::optional<Patch> drop_identity(const Graph& g, const Uses&, NodeId root) {
  const Node& n = g.nodes[root];
  const Bounds* clamp = sole_bounds(n.op);
  if (!is_same_storage(n.op) && !(clamp && clamp->none())) return std::nullopt;
  if (g.type(n.inputs[0]) != g.type(n.outputs[0])) return std::nullopt;
  PatchBuilder b(g, root, "identity");
  return b.replace_root(n.inputs[0]);
}

ValueId reshaped(PatchBuilder& b, ValueId v, const Quant& quant, Shape shape) {
  return b.add(Reshape{std::move(shape)}, {v}, quant);
}

// The repeated axis of a value of the shape `from` under the shape `to`: elements behind it keep
// their places, so what stands there several times is as long as before.
static std::optional<i64> axis_under(const Shape& from, const Repeat& repeat, const Shape& to) {
  const i64 inner = numel(std::span(from).subspan(static_cast<size_t>(repeat.axis) + 1));
  i64 behind = 1;
  for (size_t k = to.size(); k-- > 0 && behind <= inner; behind *= to[k])
    if (behind == inner && to[k] % repeat.times == 0) return static_cast<i64>(k);
  return std::nullopt;
}

std::optional<RepeatedValue> repeated_value(const Graph& g, const Uses& uses, ValueId v,
                                            PatchBuilder& b) {
  std::vector<NodeId> views;  // behind the repetition, the last one first
  std::optional<RepeatedValue> found;
  for (ValueId at = v; !found;) {
    const NodeId n = uses.producer[at];
    if (n < 0 || g.nodes[n].inputs.empty()) return std::nullopt;
    const ValueId operand = g.nodes[n].inputs[0];
    const Type &from = g.type(operand), &to = g.type(at);
    if (from.quant != to.quant || to.quant.per_channel() || to.elements() == 0) return std::nullopt;
    if (const auto repeat = repeat_of(g.nodes[n].op, from.shape)) {
      found = RepeatedValue{operand, *repeat};
    } else {
      if (!is_view(g.nodes[n].op)) return std::nullopt;
      views.push_back(n), at = operand;
    }
  }
  for (auto view = views.rbegin(); view != views.rend(); ++view) {
    const Node& node = g.nodes[*view];
    const Type &from = g.type(node.inputs[0]), &to = g.type(node.outputs[0]);
    i64& axis = found->repeat.axis;
    if (const Axes* order = permutation_of(node.op)) {
      axis = std::ranges::find(*order, axis) - order->begin();
      found->base = b.add(node.op, {found->base}, to.quant);
      continue;
    }
    const std::optional<i64> under = axis_under(from.shape, found->repeat, to.shape);
    if (!under) return std::nullopt;
    axis = *under;
    Shape shape = to.shape;
    shape[static_cast<size_t>(axis)] /= found->repeat.times;
    found->base = reshaped(b, found->base, to.quant, std::move(shape));
  }
  return found;
}

std::span<const Rule> view_rules() {
  static constexpr Rule kRules[] = {kRule<fold_permute_of_constant>,
                                    kRule<fold_reshape_of_constant>,
                                    kRule<move_above_dequantize<Permute>>,
                                    kRule<move_above_dequantize<Reshape>>,
                                    kRule<merge_permutes>,
                                    kRule<permute_to_reshape>,
                                    kRule<merge_reshapes>,
                                    drop_identity};
  return kRules;
}

}  // namespace deuteron
