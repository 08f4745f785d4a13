// SPDX-License-Identifier: Apache-2.0
// Element-wise operators whose only operand that is not a number is the same value: chains, and
// diamonds such as x * sigmoid(x). Quantized, each is one table, exact to half a step, where single
// operators would round after every one.
#include "ir/rewrite/pointwise_rules.h"

#include <algorithm>
#include <cmath>

#include "ir/rewrite/borders.h"
#include "ops/families.h"
#include "ops/pointwise/point_op.h"

namespace deuteron {

std::optional<float> scalar_of(const Graph& g, const Uses& uses, ValueId v) {
  const ValueId steps = dequantized(g, uses, v);
  const GraphValue& value = g.values[steps >= 0 ? steps : v];
  if (!value.constant || value.type.elements() != 1) return std::nullopt;
  if (value.type.dtype == DType::f32) return value.constant->as<float>()[0];
  if (value.type.dtype != DType::s8 || value.type.quant.empty()) return std::nullopt;
  return static_cast<float>(value.constant->as<int8_t>()[0] - value.type.quant.zero_point[0]) *
         value.type.quant.scale[0];
}

namespace {

bool has_program(const Graph& g, NodeId n) {
  return n >= 0 && deuteron::has_program(g.nodes[n].op);
}

PointOperand number(float v) { return {PointOperand::kNumber, v}; }
PointOperand last_of(const PointProgram& p) { return {static_cast<i64>(p.steps.size()) - 1, 0}; }

// Appends `more` with `x` in the place of its operand.
PointOperand append(PointProgram& p, const PointProgram& more, PointOperand x) {
  if (more.steps.empty()) return x;
  const auto first = static_cast<i64>(p.steps.size());
  for (PointStep step : more.steps) {
    for (PointOperand* o : {&step.a, &step.b}) {
      if (o->from == PointOperand::kX) *o = x;
      else if (o->from >= 0) o->from += first;
    }
    p.steps.push_back(step);
  }
  return last_of(p);
}

// v as a function of `leaf`, from which it is computed by operators with one operand.
PointOperand write(const Graph& g, const Uses& uses, PointProgram& p, ValueId v, ValueId leaf) {
  if (v == leaf) return {};
  if (const auto s = scalar_of(g, uses, v)) return number(*s);
  const Node& node = g.nodes[uses.producer[v]];
  const PointOperand x = write(g, uses, p, node.inputs[0], leaf);
  return append(p, *program_of(node.op), x);
}

// v, what it is a function of, what that is a function of, .. No further than one function may have
// steps: a walk to the far end from every operator of a chain takes the square of its length.
std::vector<ValueId> chain_of(const Graph& g, const Uses& uses, ValueId v) {
  std::vector<ValueId> chain{v};
  for (size_t steps = 0; has_program(g, uses.producer[v]); chain.push_back(v)) {
    const Node& node = g.nodes[uses.producer[v]];
    steps += program_of(node.op)->steps.size();
    if (steps > kMostPointSteps) break;
    v = node.inputs[0];
  }
  return chain;
}

std::optional<ValueId> common_leaf(const Graph& g, const Uses& uses, ValueId a, ValueId b) {
  const std::vector<ValueId> of_a = chain_of(g, uses, a), of_b = chain_of(g, uses, b);
  for (const ValueId v : of_a)
    if (std::find(of_b.begin(), of_b.end(), v) != of_b.end()) return v;
  return std::nullopt;
}

// The value from which v alone is computed; nothing where one function cannot have the steps
// between.
std::optional<ValueId> sole_leaf(const Graph& g, const Uses& uses, ValueId v) {
  for (size_t steps = 0; uses.has_single_reader(v) && has_program(g, uses.producer[v]);) {
    const Node& node = g.nodes[uses.producer[v]];
    steps += program_of(node.op)->steps.size();
    if (steps > kMostPointSteps) return std::nullopt;
    v = node.inputs[0];
  }
  return v;
}

bool is_float(const Graph& g, const Node& node) {
  return std::all_of(node.inputs.begin(), node.inputs.end(),
                     [&](ValueId v) { return g.type(v).dtype == DType::f32; });
}

std::optional<Patch> finish(const Graph& g, NodeId root, PointProgram program, ValueId leaf) {
  const Type& y = g.type(g.nodes[root].outputs[0]);
  if (program.steps.size() > kMostPointSteps || g.type(leaf).elements() != y.elements())
    return std::nullopt;
  PatchBuilder b(g, root, "part of a function of one element");
  Pointwise op;
  op.program = std::move(program);
  if (g.type(leaf).shape == y.shape) return b.replace_root(std::move(op), {leaf});
  return b.replace_root(Reshape{y.shape}, {b.add(std::move(op), {leaf})});
}

// Steps in, steps out: one operator of the model, whose integers TFLite's numerics prescribe. A
// table would round its real result. Steps that were moved are steps.
bool is_on_steps(const Graph& g, const Uses& uses, const Node& node) {
  return std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) {
    for (NodeId n = uses.producer[v]; n >= 0 && is_movement(g.nodes[n].op); n = uses.producer[v])
      v = g.nodes[n].inputs[0];
    return dequantized(g, uses, v) >= 0;
  });
}

// f(x, number), f(g(x), h(x)), f(x, x)   become   one function of x
std::optional<Patch> join_binary(const Graph& g, const Uses& uses, NodeId root) {
  const Node& node = g.nodes[root];
  if (!is_binary(node.op) || !is_float(g, node)) return std::nullopt;
  if (g.numerics == Numerics::tflite && is_on_steps(g, uses, node)) return std::nullopt;
  const ValueId a = node.inputs[0], b = node.inputs[1];
  const bool a_number = scalar_of(g, uses, a).has_value(),
             b_number = scalar_of(g, uses, b).has_value();
  if (a_number && b_number) return std::nullopt;
  std::optional<ValueId> leaf;
  if (a_number || b_number) leaf = sole_leaf(g, uses, a_number ? b : a);
  else leaf = common_leaf(g, uses, a, b);
  if (!leaf) return std::nullopt;
  PointProgram program;
  const PointOperand first = write(g, uses, program, a, *leaf),
                     second = write(g, uses, program, b, *leaf);
  append_binary(program, node.op, first, second);
  return finish(g, root, std::move(program), *leaf);
}

// f(g(x))   becomes   one function of x
// Refused when somebody else reads g(x), and for two clamps, which are one.
std::optional<Patch> join_unary(const Graph& g, const Uses& uses, NodeId root) {
  const Node& node = g.nodes[root];
  if (!has_program(g, root) || !is_float(g, node)) return std::nullopt;
  const ValueId between = node.inputs[0];
  const std::optional<ValueId> leaf = sole_leaf(g, uses, between);
  if (!leaf || *leaf == between ||
      (sole_bounds(node.op) && producer_as<Clamp>(g, uses, between) >= 0))
    return std::nullopt;
  PointProgram program;
  const PointOperand x = write(g, uses, program, between, *leaf);
  append(program, *program_of(node.op), x);
  return finish(g, root, std::move(program), *leaf);
}

// x / constant   becomes   x * (1 / constant)
std::optional<Patch> divide_by_constant(const Div&, const Graph& g, const Uses&, NodeId root) {
  const Node& node = g.nodes[root];
  if (!g.is_constant(node.inputs[1]) || g.type(node.inputs[1]).dtype != DType::f32)
    return std::nullopt;
  std::vector<float> inverse;
  for (const float v : g.values[node.inputs[1]].constant->as<float>()) inverse.push_back(1 / v);
  if (!std::all_of(inverse.begin(), inverse.end(), [](float v) { return std::isfinite(v); }))
    return std::nullopt;
  PatchBuilder b(g, root, "");
  return b.replace_root(Mul{}, {node.inputs[0], b.constant(DType::f32, g.type(node.inputs[1]).shape,
                                                           std::move(inverse))});
}

// f(expand(a), b)   becomes   f(a, b), which broadcasts by itself
std::optional<Patch> drop_expand(const Graph& g, const Uses& uses, NodeId root) {
  const Node& node = g.nodes[root];
  if (!is_binary(node.op)) return std::nullopt;
  for (size_t k = 0; k < 2; ++k) {
    const NodeId above = producer_as<Expand>(g, uses, node.inputs[k]);
    if (above < 0 || g.type(node.inputs[1 - k]).shape != g.type(node.outputs[0]).shape) continue;
    std::vector<ValueId> inputs = node.inputs;
    inputs[k] = g.nodes[above].inputs[0];
    PatchBuilder b(g, root, "the operator after it broadcasts");
    return b.replace_root(node.op, std::move(inputs));
  }
  return std::nullopt;
}

// f(expand(x))   becomes   expand(f(x))
std::optional<Patch> sink_expand(const Graph& g, const Uses& uses, NodeId root) {
  if (!has_program(g, root) || !is_float(g, g.nodes[root])) return std::nullopt;
  const NodeId above = producer_as<Expand>(g, uses, g.nodes[root].inputs[0]);
  if (above < 0) return std::nullopt;
  PatchBuilder b(g, root, "");
  const Expand expand = std::get<Expand>(g.nodes[above].op);
  return b.replace_root(expand, {b.add(g.nodes[root].op, {g.nodes[above].inputs[0]})});
}

}  // namespace

std::span<const Rule> pointwise_rules() {
  static constexpr Rule kRules[] = {join_binary, join_unary, kRule<divide_by_constant>, drop_expand,
                                    sink_expand};
  return kRules;
}

}  // namespace deuteron
