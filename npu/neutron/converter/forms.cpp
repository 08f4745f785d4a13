// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/converter/forms.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/rewrite/fuse_rules.h"
#include "ir/rewrite/kernel_forms.h"
#include "ir/rewrite/patch.h"
#include "ir/rewrite/view_rules.h"
#include "ops/common/bounds.h"
#include "ops/families.h"
#include "ops/matmul/zero_points.h"
#include "ops/unary/functions.h"
#include "ops/unary/pair_table.h"

namespace deuteron::neutron {

static bool is_depthwise(const Conv2d& conv, const Shape& x, const Shape& w) {
  return w[3] == 1 && conv.groups == x[3];
}

static Pad image_pad(HW before, HW after, float value) {
  return Pad{{0, before.h, before.w, 0}, {0, after.h, after.w, 0}, value};
}

// conv2d with padding   becomes   pad(0) -> conv2d: VALID is the only padding that Neutron IR can
// say for every geometry
static std::optional<Patch> padded_conv(const Conv2d& conv, const Graph& g, const Uses&,
                                        NodeId root) {
  if ((conv.pad_before == HW{} && conv.pad_after == HW{})) return std::nullopt;
  const Node& node = g.nodes[root];
  PatchBuilder b(g, root, "");
  std::vector<ValueId> inputs = node.inputs;
  inputs[0] = b.add(image_pad(conv.pad_before, conv.pad_after, 0), {inputs[0]},
                    g.type(inputs[0]).quant, g.values[inputs[0]].name + "_padded");
  Conv2d valid = conv;
  valid.pad_before = valid.pad_after = {};
  return b.replace_root(valid, std::move(inputs));
}

// The real number behind step -128, which never wins.
static float least_of(const Quant& q) {
  return static_cast<float>(-128 - q.zero_point[0]) * q.scale[0];
}

// max_pool2d with padding   becomes   pad(least) -> max_pool2d
static std::optional<Patch> padded_max_pool(const MaxPool2d& pool, const Graph& g, const Uses&,
                                            NodeId root) {
  if (pool.pad == HW{}) return std::nullopt;
  const ValueId x = g.nodes[root].inputs[0];
  PatchBuilder b(g, root, "");
  const ValueId padded = b.add(image_pad(pool.pad, pool.pad, least_of(g.type(x).quant)), {x},
                               g.type(x).quant, g.values[x].name + "_padded");
  MaxPool2d valid = pool;
  valid.pad = {};
  valid.ceil_mode = false;
  return b.replace_root(valid, {padded});
}

// avg_pool2d that counts its padding   becomes   pad(0) -> avg_pool2d
static std::optional<Patch> padded_avg_pool(const AvgPool2d& pool, const Graph& g, const Uses&,
                                            NodeId root) {
  if (pool.pad == HW{} || !pool.count_include_pad) return std::nullopt;
  const ValueId x = g.nodes[root].inputs[0];
  PatchBuilder b(g, root, "");
  const ValueId padded =
      b.add(image_pad(pool.pad, pool.pad, 0), {x}, g.type(x).quant, g.values[x].name + "_padded");
  AvgPool2d valid = pool;
  valid.pad = {};
  valid.ceil_mode = false;
  return b.replace_root(valid, {padded});
}

// A part of a constant along its first axis.
static ValueId slice_of_constant(PatchBuilder& b, const GraphValue& value, i64 first, i64 count) {
  Type type = value.type;
  const i64 row = type.bytes() / type.shape[0];
  type.shape[0] = count;
  if (type.quant.per_channel()) {
    const auto part = [&](auto& list) {
      list = {list.begin() + first, list.begin() + first + count};
    };
    part(type.quant.scale);
    part(type.quant.zero_point);
  }
  Constant data = *value.constant;
  data.bytes =
      data.bytes.subspan(static_cast<size_t>(first * row), static_cast<size_t>(count * row));
  return b.constant(std::move(type), std::move(data), value.name);
}

// conv2d in groups   becomes   concat(conv2d(slice(x)), ..)
static std::optional<Patch> grouped_conv(const Conv2d& conv, const Graph& g, const Uses&,
                                         NodeId root) {
  if (conv.groups == 1) return std::nullopt;
  const Node& node = g.nodes[root];
  const Type &x = g.type(node.inputs[0]), &w = g.type(node.inputs[1]), &y = g.type(node.outputs[0]);
  if (is_depthwise(conv, x.shape, w.shape)) return std::nullopt;
  PatchBuilder b(g, root, "");
  Conv2d one = conv;
  one.groups = 1;
  const i64 in = w.shape[3], out = w.shape[0] / conv.groups;
  std::vector<ValueId> parts;
  for (i64 k = 0; k < conv.groups; ++k) {
    std::vector<ValueId> inputs{b.add(Slice{3, k * in, in, 1}, {node.inputs[0]}, x.quant)};
    for (size_t c = 1; c < node.inputs.size(); ++c)
      inputs.push_back(slice_of_constant(b, g.values[node.inputs[c]], k * out, out));
    parts.push_back(b.add(one, std::move(inputs), y.quant));
  }
  return b.replace_root(Concat{3}, std::move(parts));
}

// Bounds that cut nothing off go; those that no builtin has   become   a clamp behind the operator.
static std::optional<Patch> unnamed_bounds(const Graph& g, const Uses&, NodeId root) {
  Op op = g.nodes[root].op;
  Bounds* bounds = bounds_of(op);
  if (!has_bounds_beside(op)) return std::nullopt;
  const Node& node = g.nodes[root];
  const Quant& q = g.type(node.outputs[0]).quant;
  const StepRange range = step_range(*bounds, q);
  const bool cuts = range.low > -128 || range.high < 127;
  // TRANSPOSE_CONV has no activation in the versions of the format that are in use.
  const std::optional<Activation> builtin = activation_of(*bounds, q);
  const bool fused = builtin && *builtin != Activation::relu_0_to_1 &&
                     !std::holds_alternative<ConvTranspose2d>(op);
  if (cuts && fused) return std::nullopt;
  const Clamp clamp{*bounds};
  *bounds = {};
  PatchBuilder b(g, root, "");
  if (!cuts) return b.replace_root(std::move(op), node.inputs);
  return b.replace_root(
      clamp, {b.add(std::move(op), node.inputs, q, g.values[node.outputs[0]].name + "_unbounded")});
}

// Beside `x`: one element, without an axis where x has none, so that the result has none.
static ValueId number(PatchBuilder& b, float v, ValueId x) {
  const NumberInSteps n = number_in_steps(v);
  return b.constant(
      Type{DType::s8, b.type(x).rank() == 0 ? Shape{} : Shape{1}, per_tensor(n.scale, 0)},
      constant_of(std::vector<int8_t>{static_cast<int8_t>(n.step)}), "number");
}

// matmul with a factor   becomes   mul(matmul, factor): the product keeps its steps, each is worth
// 1/factor, and the mul moves nothing
static std::optional<Patch> scaled_matmul(const Matmul& matmul, const Graph& g, const Uses&,
                                          NodeId root) {
  if (matmul.scale == 1) return std::nullopt;
  const Node& node = g.nodes[root];
  Quant plain = g.type(node.outputs[0]).quant;
  plain.scale[0] /= matmul.scale;
  PatchBuilder b(g, root, "");
  const ValueId product =
      b.add(Matmul{}, node.inputs, plain, g.values[node.outputs[0]].name + "_unscaled");
  return b.replace_root(Mul{}, {product, number(b, matmul.scale, product)});
}

// An operand of the product, before a permute that the product reads as its flag.
struct Side {
  ValueId v;
  i64 axis;  // the inner one
  bool swapped;
};
static Side side_of(const Graph& g, const Uses& uses, ValueId v) {
  const NodeId above = producer_as<Permute>(g, uses, v);
  if (above < 0 || std::get<Permute>(g.nodes[above].op).perm != Axes{0, 2, 1}) return {v, 2, false};
  return {g.nodes[above].inputs[0], 1, true};
}

// The pieces of a constant, one behind the other.
static ValueId lay_out_constant(PatchBuilder& b, const GraphValue& value, i64 axis,
                                std::span<const InnerPiece> pieces) {
  const Shape& shape = value.type.shape;
  const i64 outer = numel(std::span(shape).first(static_cast<size_t>(axis)));
  const i64 inside = numel(std::span(shape).subspan(static_cast<size_t>(axis) + 1)),
            block = shape[axis] * inside;
  const std::span<const int8_t> from = value.constant->as<int8_t>();
  std::vector<int8_t> to;
  for (i64 i = 0; i < outer; ++i)
    for (const InnerPiece& piece : pieces)
      if (piece.fill)
        to.insert(to.end(), static_cast<size_t>(piece.extent * inside),
                  static_cast<int8_t>(*piece.fill));
      else to.insert(to.end(), from.begin() + i * block, from.begin() + (i + 1) * block);
  Type type{DType::s8, shape, per_tensor(value.type.quant.scale[0], 0)};
  type.shape[axis] = 0;
  for (const InnerPiece& piece : pieces) type.shape[axis] += piece.extent;
  return b.constant(std::move(type), constant_of(std::move(to)), value.name);
}

// The same of a computed operand: fills are the padding of the piece before them.
static ValueId lay_out(PatchBuilder& b, const std::string& name, ValueId x, i64 axis,
                       std::span<const InnerPiece> pieces) {
  Quant steps = b.type(x).quant;
  if (const i32 zero = steps.zero_point[0]; zero != 0) {
    steps = per_tensor(steps.scale[0], 0);
    // x + zero in steps of x: exact, with nothing cut off
    const ValueId number = b.constant(Type{DType::s8, {1}, steps},
                                      constant_of(std::vector<int8_t>{static_cast<int8_t>(zero)}),
                                      name + "_zero_point");
    x = b.add(Add{}, {x, number}, steps, name + "_steps");
  }
  std::vector<ValueId> parts;
  for (const InnerPiece& piece : pieces) {
    if (!piece.fill) {
      parts.push_back(x);
      continue;
    }
    Pad pad{Axes(3, 0), Axes(3, 0), static_cast<float>(*piece.fill) * steps.scale[0]};
    pad.after[static_cast<size_t>(axis)] = piece.extent;
    parts.back() = b.add(pad, {parts.back()}, steps, name + "_filled");
  }
  return parts.size() == 1 ? parts[0]
                           : b.add(Concat{axis}, std::move(parts), steps, name + "_pieces");
}

// matmul of operands with zero points   becomes   matmul of longer ones without
// (ops/matmul/zero_points.h)
static std::optional<Patch> matmul_of_steps(const Matmul&, const Graph& g, const Uses& uses,
                                            NodeId root) {
  const Node& node = g.nodes[root];
  const Type &x = g.type(node.inputs[0]), &other = g.type(node.inputs[1]);
  if (x.quant.zero_point[0] == 0 && other.quant.zero_point[0] == 0) return std::nullopt;
  const InnerPieces pieces =
      without_zero_points(x.quant.zero_point[0], other.quant.zero_point[0], x.shape[2]);
  PatchBuilder b(g, root, "");
  std::vector<ValueId> inputs;
  for (size_t k = 0; k < 2; ++k) {
    const Side side = side_of(g, uses, node.inputs[k]);
    const GraphValue& value = g.values[side.v];
    const std::vector<InnerPiece>& own = k == 0 ? pieces.x : pieces.other;
    ValueId v = value.constant ? lay_out_constant(b, value, side.axis, own)
                               : lay_out(b, value.name, side.v, side.axis, own);
    if (side.swapped) v = b.add(Permute{{0, 2, 1}}, {v}, b.type(v).quant, value.name + "_swapped");
    inputs.push_back(v);
  }
  return b.replace_root(node.op, std::move(inputs));
}

// A function whose builtin has a result of fixed parameters, with parameters of the model's become
// the builtin with its fixed ones -> a change of parameters
static std::optional<Patch> fixed_parameters(const Unary& unary, const Graph& g, const Uses&,
                                             NodeId root) {
  if (row_of(unary.fn).fixed.scale == 0) return std::nullopt;
  const FixedResult& result = row_of(unary.fn).fixed;
  const Quant fixed = per_tensor(result.scale, result.zero_point);
  const Node& node = g.nodes[root];
  if (g.type(node.outputs[0]).quant == fixed) return std::nullopt;
  PatchBuilder b(g, root, "");
  return b.replace_root(Clamp{}, {b.add(unary, node.inputs, fixed)});
}

// An extreme with other parameters than its operand's   becomes   one with those -> a change of
// parameters
static std::optional<Patch> shared_extreme(const Reduce& op, const Graph& g, const Uses&,
                                           NodeId root) {
  if ((op.fn != Reduce::kMax && op.fn != Reduce::kMin)) return std::nullopt;
  const Node& node = g.nodes[root];
  const Quant& x = g.type(node.inputs[0]).quant;
  if (g.type(node.outputs[0]).quant == x) return std::nullopt;
  PatchBuilder b(g, root, "");
  return b.replace_root(Clamp{}, {b.add(op, node.inputs, x)});
}

// x + number, x - number, x * number   become   the operator with a constant of one element
static std::optional<Patch> point_step(const Pointwise& point, const Graph& g, const Uses&,
                                       NodeId root) {
  if (point.program.steps.size() != 1) return std::nullopt;
  const PointStep& step = point.program.steps[0];
  const bool x_first = step.a.from == PointOperand::kX;
  const PointOperand& other = x_first ? step.b : step.a;
  const ValueId x = g.nodes[root].inputs[0];
  PatchBuilder b(g, root, "");
  const ValueId second = other.from == PointOperand::kX ? x : number(b, other.number, x);
  switch (step.fn) {
    case PointFn::add:
      return b.replace_root(Add{}, {x, second});
    case PointFn::sub:
      return b.replace_root(Add{{}, -1}, {x, second});
    case PointFn::mul:
      return b.replace_root(Mul{}, {x, second});
    default:
      return std::nullopt;
  }
}

// conv_transpose2d with padding or output padding   becomes   the whole of it -> slice
static std::optional<Patch> cut_transposed_conv(const ConvTranspose2d& conv, const Graph& g,
                                                const Uses&, NodeId root) {
  if ((conv.pad == HW{} && conv.output_pad == HW{})) return std::nullopt;
  const Node& node = g.nodes[root];
  const Type &x = g.type(node.inputs[0]), &w = g.type(node.inputs[1]), &y = g.type(node.outputs[0]);
  const auto whole = [](i64 in, i64 kernel, i64 stride, i64 pad, i64 out) {
    return std::max((in - 1) * stride + kernel, pad + out);
  };
  const i64 h = whole(x.shape[1], w.shape[1], conv.stride.h, conv.pad.h, y.shape[1]);
  const i64 wide = whole(x.shape[2], w.shape[2], conv.stride.w, conv.pad.w, y.shape[2]);
  ConvTranspose2d full = conv;
  full.pad = {};
  full.output_pad = {h - ((x.shape[1] - 1) * conv.stride.h + w.shape[1]),
                     wide - ((x.shape[2] - 1) * conv.stride.w + w.shape[2])};
  if (full == conv) return std::nullopt;
  PatchBuilder b(g, root, "");
  ValueId v = b.add(full, node.inputs, y.quant, g.values[node.outputs[0]].name + "_whole");
  if (h != y.shape[1]) v = b.add(Slice{1, conv.pad.h, y.shape[1], 1}, {v}, y.quant);
  if (wide != y.shape[2]) v = b.add(Slice{2, conv.pad.w, y.shape[2], 1}, {v}, y.quant);
  return b.replace_root(v);
}

std::optional<Activation> activation_of(const Bounds& bounds, const Quant& quant) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  struct Named {
    Activation activation;
    Bounds bounds;
  };
  static constexpr Named kNamed[] = {{Activation::none, {}},
                                     {Activation::relu, {0, kInfinity}},
                                     {Activation::relu6, {0, 6}},
                                     {Activation::relu_n1_to_1, {-1, 1}},
                                     {Activation::relu_0_to_1, {0, 1}}};
  for (const Named& n : kNamed) {
    if (!(n.bounds == bounds)) continue;
    if (step_range(bounds, quant) ==
        step_range(bounds, per_tensor(quant.scale[0], quant.zero_point[0]), Rounding::tflite))
      return n.activation;
  }
  return std::nullopt;
}

// A quantizer may use fewer steps than int8 has (Brevitas, quant_min and quant_max of PT2E).
// Neutron IR has no such range: it is bounds of the operator, or a clamp behind it.
static void bound_narrow_steps(Graph& g) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<Node> nodes;
  for (Node& node : g.nodes) {
    Node& last = nodes.emplace_back(std::move(node));
    const ValueId y = last.outputs[0];
    const Type type = g.type(y);
    const Quant& q = type.quant;
    if (type.dtype != DType::s8 || q.empty() || q.per_channel() || (q.low <= -128 && q.high >= 127))
      continue;
    const bool reads_same = std::ranges::all_of(
        last.inputs, [&](ValueId v) { return g.is_constant(v) || g.type(v).quant == q; });
    if (reads_same && is_movement(last.op)) continue;
    const auto real = [&](i32 step) {
      return static_cast<float>(step - q.zero_point[0]) * q.scale[0];
    };
    const Bounds range{q.low > -128 ? real(q.low) : -kInfinity,
                       q.high < 127 ? real(q.high) : kInfinity};
    if (Bounds* own = bounds_of(last.op); own && !is_elementwise(last.op)) {
      *own = {std::max(own->low, range.low), std::min(own->high, range.high)};
      continue;
    }
    last.outputs[0] = g.add_value(g.values[y].name + "_wide", type);
    Node clamp{Clamp{range}, {last.outputs[0]}, {y}, last.origin};
    nodes.push_back(std::move(clamp));
  }
  g.nodes = std::move(nodes);
  for (GraphValue& v : g.values)
    if (!v.constant && v.type.dtype == DType::s8 && !v.type.quant.per_channel())
      v.type.quant.low = -128, v.type.quant.high = 127;
}

void to_neutron_forms(Graph& body, i64* budget) {
  bound_narrow_steps(body);
  std::vector<Rule> rules(view_rules().begin(), view_rules().end());
  rules.insert(rules.end(), {kRule<grouped_conv>, kRule<padded_conv>, kRule<padded_max_pool>,
                             kRule<padded_avg_pool>, unnamed_bounds, kRule<scaled_matmul>,
                             kRule<matmul_of_steps>, kRule<fixed_parameters>, kRule<shared_extreme>,
                             kRule<point_step>, kRule<cut_transposed_conv>, kLinearToConv,
                             kPadBelowChannelReshape});
  rewrite(body, rules, budget);
}

}  // namespace deuteron::neutron
