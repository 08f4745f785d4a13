#include "backends/neutron/forms.h"

#include <algorithm>
#include <cmath>

#include "ops/families.h"
#include "ops/integer/bounds.h"
#include "ops/unary/functions.h"
#include "ops/unary/pair_table.h"
#include "rewrite/fuse_rules.h"
#include "rewrite/kernel_forms.h"
#include "rewrite/patch.h"
#include "rewrite/view_rules.h"

namespace deuteron::neutron {

static bool is_depthwise(const Conv2d& conv, const Shape& x, const Shape& w) { return w[3] == 1 && conv.groups == x[3]; }

static Pad image_pad(HW before, HW after, float value) { return Pad{{0, before.h, before.w, 0}, {0, after.h, after.w, 0}, value}; }

// conv2d with padding   becomes   pad(0) -> conv2d: VALID is the only padding that Neutron IR can say for every geometry
static std::optional<Patch> padded_conv(const Graph& g, const Uses&, NodeId root) {
  const Conv2d* conv = op_as<Conv2d>(g, root);
  if (!conv || (conv->pad_before == HW{} && conv->pad_after == HW{})) return std::nullopt;
  const Node& node = g.nodes[root];
  PatchBuilder b(g, root, "");
  std::vector<ValueId> inputs = node.inputs;
  inputs[0] =
      b.add(image_pad(conv->pad_before, conv->pad_after, 0), {inputs[0]}, g.type(inputs[0]).quant, g.values[inputs[0]].name + "_padded");
  Conv2d valid = *conv;
  valid.pad_before = valid.pad_after = {};
  return b.replace_root(valid, std::move(inputs));
}

// The real number behind step -128, which never wins.
static float least_of(const Quant& q) { return static_cast<float>(-128 - q.zero_point[0]) * q.scale[0]; }

// max_pool2d with padding   becomes   pad(least) -> max_pool2d
static std::optional<Patch> padded_max_pool(const Graph& g, const Uses&, NodeId root) {
  const MaxPool2d* pool = op_as<MaxPool2d>(g, root);
  if (!pool || pool->pad == HW{}) return std::nullopt;
  const ValueId x = g.nodes[root].inputs[0];
  PatchBuilder b(g, root, "");
  const ValueId padded =
      b.add(image_pad(pool->pad, pool->pad, least_of(g.type(x).quant)), {x}, g.type(x).quant, g.values[x].name + "_padded");
  MaxPool2d valid = *pool;
  valid.pad = {};
  valid.ceil_mode = false;
  return b.replace_root(valid, {padded});
}

// avg_pool2d that counts its padding   becomes   pad(0) -> avg_pool2d
static std::optional<Patch> padded_avg_pool(const Graph& g, const Uses&, NodeId root) {
  const AvgPool2d* pool = op_as<AvgPool2d>(g, root);
  if (!pool || pool->pad == HW{} || !pool->count_include_pad) return std::nullopt;
  const ValueId x = g.nodes[root].inputs[0];
  PatchBuilder b(g, root, "");
  const ValueId padded = b.add(image_pad(pool->pad, pool->pad, 0), {x}, g.type(x).quant, g.values[x].name + "_padded");
  AvgPool2d valid = *pool;
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
    const auto part = [&](auto& list) { list = {list.begin() + first, list.begin() + first + count}; };
    part(type.quant.scale);
    part(type.quant.zero_point);
  }
  Constant data = *value.constant;
  data.bytes = data.bytes.subspan(static_cast<size_t>(first * row), static_cast<size_t>(count * row));
  return b.constant(std::move(type), std::move(data), value.name);
}

// conv2d in groups   becomes   concat(conv2d(slice(x)), ..)
static std::optional<Patch> grouped_conv(const Graph& g, const Uses&, NodeId root) {
  const Conv2d* conv = op_as<Conv2d>(g, root);
  if (!conv || conv->groups == 1) return std::nullopt;
  const Node& node = g.nodes[root];
  const Type &x = g.type(node.inputs[0]), &w = g.type(node.inputs[1]), &y = g.type(node.outputs[0]);
  if (is_depthwise(*conv, x.shape, w.shape)) return std::nullopt;
  PatchBuilder b(g, root, "");
  Conv2d one = *conv;
  one.groups = 1;
  const i64 in = w.shape[3], out = w.shape[0] / conv->groups;
  std::vector<ValueId> parts;
  for (i64 k = 0; k < conv->groups; ++k) {
    std::vector<ValueId> inputs{b.add(Slice{3, k * in, in, 1}, {node.inputs[0]}, x.quant)};
    for (size_t c = 1; c < node.inputs.size(); ++c) inputs.push_back(slice_of_constant(b, g.values[node.inputs[c]], k * out, out));
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
  const bool fused = builtin && *builtin != Activation::relu_0_to_1 && !std::holds_alternative<ConvTranspose2d>(op);
  if (cuts && fused) return std::nullopt;
  const Clamp clamp{*bounds};
  *bounds = {};
  PatchBuilder b(g, root, "");
  if (!cuts) return b.replace_root(std::move(op), node.inputs);
  return b.replace_root(clamp, {b.add(std::move(op), node.inputs, q, g.values[node.outputs[0]].name + "_unbounded")});
}

static ValueId number(PatchBuilder& b, float v) {
  const NumberInSteps n = number_in_steps(v);
  return b.constant(Type{DType::s8, {1}, per_tensor(n.scale, 0)}, constant_of(std::vector<int8_t>{static_cast<int8_t>(n.step)}), "number");
}

// matmul with a factor   becomes   mul(matmul, factor): the product keeps its steps, each is worth 1/factor, and the mul moves nothing
static std::optional<Patch> scaled_matmul(const Graph& g, const Uses&, NodeId root) {
  const Matmul* matmul = op_as<Matmul>(g, root);
  if (!matmul || matmul->scale == 1) return std::nullopt;
  const Node& node = g.nodes[root];
  Quant plain = g.type(node.outputs[0]).quant;
  plain.scale[0] /= matmul->scale;
  PatchBuilder b(g, root, "");
  const ValueId product = b.add(Matmul{1, matmul->rank}, node.inputs, plain, g.values[node.outputs[0]].name + "_unscaled");
  return b.replace_root(Mul{}, {product, number(b, matmul->scale)});
}

// matmul of operands whose zero points differ   becomes   matmul of copies whose zero points are 0
// For an NPU that takes no other and has no CPU beside it. What comes of a softmax keeps 127 of its 255 steps.
static std::optional<Patch> symmetric_operands(const Graph& g, const Uses&, NodeId root) {
  if (!op_as<Matmul>(g, root) || g.numerics == Numerics::tflite) return std::nullopt;
  const Node& node = g.nodes[root];
  const Quant &x = g.type(node.inputs[0]).quant, &other = g.type(node.inputs[1]).quant;
  if (x.empty() || other.empty() || x.zero_point == other.zero_point) return std::nullopt;
  for (const ValueId v : node.inputs)
    if (g.is_constant(v) && g.type(v).quant.zero_point[0] != 0) return std::nullopt;  // no copy makes that 0
  PatchBuilder b(g, root, "");
  std::vector<ValueId> inputs = node.inputs;
  for (ValueId& v : inputs) {
    const Quant& q = g.type(v).quant;
    if (q.zero_point[0] == 0) continue;
    const float most = static_cast<float>(std::max(127 - q.zero_point[0], q.zero_point[0] + 128)) * q.scale[0];
    v = b.add(Clamp{}, {v}, per_tensor(most / 127, 0), g.values[v].name + "_symmetric");
  }
  return b.replace_root(node.op, std::move(inputs));
}

// A function whose builtin has a result of fixed parameters, with parameters of the model's   become   the builtin with its fixed ones -> a
// change of parameters
static std::optional<Patch> fixed_parameters(const Graph& g, const Uses&, NodeId root) {
  const Unary* unary = op_as<Unary>(g, root);
  if (!unary || row_of(unary->fn).fixed.scale == 0) return std::nullopt;
  const FixedResult& result = row_of(unary->fn).fixed;
  const Quant fixed = per_tensor(result.scale, result.zero_point);
  const Node& node = g.nodes[root];
  if (g.type(node.outputs[0]).quant == fixed) return std::nullopt;
  PatchBuilder b(g, root, "");
  return b.replace_root(Clamp{}, {b.add(*unary, node.inputs, fixed)});
}

// An extreme with other parameters than its operand's   becomes   one with those -> a change of parameters
static std::optional<Patch> shared_extreme(const Graph& g, const Uses&, NodeId root) {
  const Reduce* op = op_as<Reduce>(g, root);
  if (!op || (op->fn != Reduce::kMax && op->fn != Reduce::kMin)) return std::nullopt;
  const Node& node = g.nodes[root];
  const Quant& x = g.type(node.inputs[0]).quant;
  if (g.type(node.outputs[0]).quant == x) return std::nullopt;
  PatchBuilder b(g, root, "");
  return b.replace_root(Clamp{}, {b.add(*op, node.inputs, x)});
}

// x + number, x - number, x * number   become   the operator with a constant of one element
static std::optional<Patch> point_step(const Graph& g, const Uses&, NodeId root) {
  const Pointwise* point = op_as<Pointwise>(g, root);
  if (!point || point->program.steps.size() != 1) return std::nullopt;
  const PointStep& step = point->program.steps[0];
  const bool x_first = step.a.from == PointOperand::kX;
  const PointOperand& other = x_first ? step.b : step.a;
  const ValueId x = g.nodes[root].inputs[0];
  PatchBuilder b(g, root, "");
  const ValueId second = other.from == PointOperand::kX ? x : number(b, other.number);
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
static std::optional<Patch> cut_transposed_conv(const Graph& g, const Uses&, NodeId root) {
  const ConvTranspose2d* conv = op_as<ConvTranspose2d>(g, root);
  if (!conv || (conv->pad == HW{} && conv->output_pad == HW{})) return std::nullopt;
  const Node& node = g.nodes[root];
  const Type &x = g.type(node.inputs[0]), &w = g.type(node.inputs[1]), &y = g.type(node.outputs[0]);
  const auto whole = [](i64 in, i64 kernel, i64 stride, i64 pad, i64 out) { return std::max((in - 1) * stride + kernel, pad + out); };
  const i64 h = whole(x.shape[1], w.shape[1], conv->stride.h, conv->pad.h, y.shape[1]);
  const i64 wide = whole(x.shape[2], w.shape[2], conv->stride.w, conv->pad.w, y.shape[2]);
  ConvTranspose2d full = *conv;
  full.pad = {};
  full.output_pad = {h - ((x.shape[1] - 1) * conv->stride.h + w.shape[1]), wide - ((x.shape[2] - 1) * conv->stride.w + w.shape[2])};
  if (full == *conv) return std::nullopt;
  PatchBuilder b(g, root, "");
  ValueId v = b.add(full, node.inputs, y.quant, g.values[node.outputs[0]].name + "_whole");
  if (conv->pad.h > 0 || h != y.shape[1]) v = b.add(Slice{1, conv->pad.h, y.shape[1], 1}, {v}, y.quant);
  if (conv->pad.w > 0 || wide != y.shape[2]) v = b.add(Slice{2, conv->pad.w, y.shape[2], 1}, {v}, y.quant);
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
    if (step_range(bounds, quant) == step_range(bounds, per_tensor(quant.scale[0], quant.zero_point[0]), Rounding::tflite))
      return n.activation;
  }
  return std::nullopt;
}

void make_operands_symmetric(Graph& g, const RuleContext& context) {
  static constexpr Rule kRules[] = {symmetric_operands};
  rewrite(g, kRules, context);
}

void to_neutron_forms(Graph& body, i64* budget) {
  std::vector<Rule> rules(view_rules().begin(), view_rules().end());
  for (const Rule rule : {grouped_conv, padded_conv, padded_max_pool, padded_avg_pool, unnamed_bounds, scaled_matmul, fixed_parameters,
                          shared_extreme, point_step, cut_transposed_conv, linear_to_conv, pad_below_channel_reshape})
    rules.push_back(rule);
  rewrite(body, rules, budget);
}

}  // namespace deuteron::neutron
