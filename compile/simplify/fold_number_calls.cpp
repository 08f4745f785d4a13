// SPDX-License-Identifier: Apache-2.0
#include "compile/simplify/fold_number_calls.h"

#include <algorithm>
#include <cmath>

#include "base/tensor/elements.h"
#include "compile/calibrate/calibrate.h"
#include "ir/rewrite/borders.h"
#include "ops/families.h"
#include "ops/kernel_call/host_call.h"
#include "ops/kernel_call/number_calls.h"

namespace deuteron {

ValueId quantize_constant(PatchBuilder& b, const GraphValue& value, const Quant& q) {
  std::vector<int8_t> steps;
  for (const float x : value.constant->as<float>())
    steps.push_back(
        static_cast<int8_t>(quantize_value(x, q.scale[0], q.zero_point[0], q.low, q.high)));
  return b.constant(Type{DType::s8, value.type.shape, q}, constant_of(std::move(steps)),
                    value.name);
}

Bounds range_of(const Quant& q) {
  return {static_cast<float>(q.low - q.zero_point[0]) * q.scale[0],
          static_cast<float>(q.high - q.zero_point[0]) * q.scale[0]};
}

Quant spanning(const std::vector<const Quant*>& all) {
  Observation seen;
  seen.seen = true, seen.low = 0, seen.high = 0;
  for (const Quant* q : all) {
    const Bounds range = range_of(*q);
    seen.low = std::min(seen.low, range.low), seen.high = std::max(seen.high, range.high);
  }
  const ActivationQuant chosen = choose(seen, Observer::min_max, false, -128, 127);
  return per_tensor(chosen.scale, chosen.zero_point);
}

namespace {

bool has_steps(const Type& t) {
  return t.dtype == DType::s8 && !t.quant.empty() && !t.quant.per_channel();
}

// The numbers of a call: constants, and the steps behind a dequantize.
struct Numbers {
  std::vector<ValueId> inputs;  // of the node, with the steps in the place of the numbers
  std::vector<size_t> at;       // where they stand
  std::vector<size_t> constants;
  std::vector<const Quant*> parameters;  // of the computed ones
  bool agree() const {
    return std::all_of(parameters.begin(), parameters.end(),
                       [&](const Quant* q) { return *q == *parameters[0]; });
  }
};
std::optional<Numbers> numbers_of_call(const Graph& g, const Uses& uses, const Node& node,
                                       const NumberCall& call) {
  Numbers n{node.inputs, call.operands, {}, {}};
  for (const size_t k : n.at) {
    const ValueId v = node.inputs[k];
    if (g.is_constant(v) && g.type(v).dtype == DType::f32) {
      n.constants.push_back(k);
      continue;
    }
    n.inputs[k] = dequantized(g, uses, v);
    if (n.inputs[k] < 0 || !has_steps(g.type(n.inputs[k]))) return std::nullopt;
    n.parameters.push_back(&g.type(n.inputs[k]).quant);
  }
  return n;
}

// All numbers with these parameters: constants are rounded, others get them by a clamp without
// bounds.
void bring_to(PatchBuilder& b, const Graph& g, const Quant& quant, Numbers& n) {
  for (const size_t k : n.at) {
    ValueId& v = n.inputs[k];
    if (std::ranges::find(n.constants, k) != n.constants.end())
      v = quantize_constant(b, g.values[v], quant);
    else if (b.type(v).quant != quant) v = with_parameters(b, v, quant);
  }
}

bool runtime_takes(const PatchBuilder& b, const auto& call, const std::vector<ValueId>& inputs,
                   const std::vector<Type>& types) {
  std::vector<const Type*> in, out;
  for (const ValueId v : inputs) in.push_back(&b.type(v));
  for (const Type& type : types) out.push_back(&type);
  return !fault_of_call(call, TypeView(in), TypeView(out));
}

// Whether no constant is cut off. Minus infinity is the least step there is.
bool lie_in(const Graph& g, const Numbers& n, const Quant& quant) {
  const Bounds range = range_of(quant);
  const float half = quant.scale[0] / 2;
  for (const size_t k : n.constants)
    for (const float x : g.values[n.inputs[k]].constant->as<float>())
      if (x > range.high + half || (x < range.low - half && x > kMaskedBelow)) return false;
  return true;
}

// The parameters of what a call moves: its operands', where they have the same; else those that its
// result is wanted in, or that hold all.
std::optional<Quant> moved_quant(const Graph& g, const Uses& uses, const Node& node,
                                 const Numbers& n) {
  const std::optional<Type> wanted = quantized_type(g, uses, node.outputs[0]);
  const bool is_wanted = wanted && has_steps(*wanted);
  if (!n.parameters.empty() && n.agree() && lie_in(g, n, *n.parameters[0])) return *n.parameters[0];
  if (is_wanted) return wanted->quant;
  if (n.parameters.empty() || !n.constants.empty()) return std::nullopt;
  return spanning(n.parameters);
}

// where(mask, dequantize(x), number), topk, gather and the like   become   dequantize(where(mask,
// x, steps)): the same numbers Refused when an operand comes from float, or a constant would be cut
// off.
std::optional<Patch> move_steps(const Graph& g, const Uses& uses, NodeId root) {
  const Node& node = g.nodes[root];
  const auto* kernel = call_of(node.op);
  const auto call = number_call(kernel);
  if (!call || call->use != NumberUse::moved || g.type(node.outputs[0]).dtype != DType::f32)
    return std::nullopt;
  std::optional<Numbers> n = numbers_of_call(g, uses, node, *call);
  if (!n) return std::nullopt;
  const std::optional<Quant> quant = moved_quant(g, uses, node, *n);
  if (!quant) return std::nullopt;
  PatchBuilder b(g, root, "");
  bring_to(b, g, *quant, *n);
  std::vector<Type> types;
  for (const ValueId v : node.outputs) types.push_back(g.type(v));
  types[0].dtype = DType::s8, types[0].quant = *quant;
  if (!runtime_takes(b, *kernel, n->inputs, types)) return std::nullopt;
  const ValueId y = b.add_typed(*kernel, n->inputs, types[0], g.values[node.outputs[0]].name);
  const bool is_read = !uses.readers[node.outputs[0]].empty() ||
                       uses.output_uses[node.outputs[0]] != 0;  // or positions alone
  if (is_read) b.replace(node.outputs[0], b.add(Dequantize{}, {y}));
  Patch patch = b.done();
  Node& moved = *(patch.nodes.end() - (is_read ? 2 : 1));
  for (size_t k = 1; k < types.size(); ++k) {
    const auto other = static_cast<ValueId>(g.values.size() + patch.values.size());
    patch.values.push_back({g.values[node.outputs[k]].name, types[k], std::nullopt});
    moved.outputs.push_back(other);
    patch.replace.emplace_back(node.outputs[k], other);
  }
  return patch;
}

// A comparison as a sentence about steps: of all steps of x, those for which it holds are the ones
// above, or not below, a number.
struct Threshold {
  std::string_view name;  // of the kernel
  i64 step;
};
bool holds(std::string_view name, float a, float b) {
  if (name == "aten::eq") return a == b;
  if (name == "aten::ne") return a != b;
  if (name == "aten::lt") return a < b;
  if (name == "aten::le") return a <= b;
  return name == "aten::gt" ? a > b : a >= b;
}
Threshold threshold_of(std::string_view name, float number, const Quant& q) {
  i64 first = q.low, last = q.high;  // of those for which it holds
  const auto is_true = [&](i64 step) {
    return holds(name, static_cast<float>(step - q.zero_point[0]) * q.scale[0], number);
  };
  if (name == "aten::eq" || name == "aten::ne") {
    const bool equal = name == "aten::eq";
    for (i64 step = first; step <= last; ++step)
      if (is_true(step) == equal) return {name, step};
    return equal ? Threshold{"aten::gt", last} : Threshold{"aten::ge", first};  // of none, of all
  }
  while (first <= last && !is_true(first)) ++first;
  while (last >= first && !is_true(last)) --last;
  if (first > last) return {"aten::gt", q.high};
  return first > q.low ? Threshold{"aten::ge", first} : Threshold{"aten::le", last};
}

std::string_view mirrored(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kPairs[] = {
      {"aten::lt", "aten::gt"},
      {"aten::le", "aten::ge"},
      {"aten::gt", "aten::lt"},
      {"aten::ge", "aten::le"}};
  for (const auto& [from, to] : kPairs)
    if (from == name) return to;
  return name;
}

// The operand of the one computed number and the constant beside it; nothing where there is no
// constant, or one of several elements.
struct BesideNumber {
  size_t operand;
  float number;
  bool first;  // the computed one stands first
};
std::optional<BesideNumber> beside_number(const Graph& g, const Node& node, const NumberCall& call,
                                          const Numbers& n) {
  if (call.number) return BesideNumber{n.at[0], static_cast<float>(*call.number), true};
  if (n.constants.size() != 1 || n.at.size() != 2) return std::nullopt;
  const bool first = n.constants[0] == n.at[1];
  const size_t operand = first ? n.at[0] : n.at[1];
  const GraphValue& value = g.values[node.inputs[n.constants[0]]];
  if (value.type.elements() != 1 ||
      g.type(node.inputs[operand]).shape != g.type(node.outputs[0]).shape)
    return std::nullopt;
  return BesideNumber{operand, value.constant->as<float>()[0], first};
}

// dequantize(x) > number   becomes   x > step: true for the same numbers
// dequantize(x) > dequantize(y)   becomes   x > y, both with parameters that hold the ranges of
// both where theirs differ
std::optional<Patch> compare_steps(const Graph& g, const Uses& uses, NodeId root) {
  const Node& node = g.nodes[root];
  const auto* kernel = call_of(node.op);
  const auto call = number_call(kernel);
  if (!call || call->use != NumberUse::compared || call->operands.empty()) return std::nullopt;
  std::optional<Numbers> n = numbers_of_call(g, uses, node, *call);
  if (!n || n->parameters.empty()) return std::nullopt;
  const Face* const y = face_of_result(*kernel);
  if (!y) return std::nullopt;
  PatchBuilder b(g, root, "");
  const Type type = g.type(node.outputs[0]);
  auto on_steps = *kernel;
  std::vector<ValueId> inputs = n->inputs;
  if (const auto beside = beside_number(g, node, *call, *n)) {
    const ValueId x = n->inputs[beside->operand];
    const Threshold t = threshold_of(beside->first ? call->name : mirrored(call->name),
                                     beside->number, g.type(x).quant);
    on_steps.name = t.name, on_steps.overload = "Scalar_out";
    using K = KernelArg::Kind;
    on_steps.args = {{K::input, 0, 0, {}, *face_of_operand(*kernel, beside->operand)},
                     {K::integer, t.step, 0, {}, {}},
                     {K::output, 0, 0, {}, *y}};
    inputs = {x};
  } else {
    bring_to(b, g, n->agree() ? *n->parameters[0] : spanning(n->parameters), *n);
    inputs = n->inputs;
  }
  if (!runtime_takes(b, on_steps, inputs, {type})) return std::nullopt;
  return b.replace_root(
      b.add_typed(std::move(on_steps), std::move(inputs), type, g.values[node.outputs[0]].name));
}

// argmax(dequantize(x))   becomes   argmax(x): the order of the steps is that of the numbers
std::optional<Patch> compare_int8(const Graph& g, const Uses& uses, NodeId root) {
  const auto* call = call_of(g.nodes[root].op);
  if (!call || (call->name != "aten::argmax" && call->name != "aten::argmin")) return std::nullopt;
  const Node& node = g.nodes[root];
  const ValueId steps = dequantized(g, uses, node.inputs[0]);
  if (steps < 0 || g.type(steps).quant.per_channel()) return std::nullopt;
  PatchBuilder b(g, root, "");
  return b.replace_root(
      b.add_typed(*call, {steps}, g.type(node.outputs[0]), g.values[node.outputs[0]].name));
}

// quantize(true and false as numbers)   becomes   where(mask, step of 1, step of 0)
std::optional<Patch> choose_steps(const Graph& g, const Uses& uses, NodeId root) {
  const auto* kernel = call_of(g.nodes[root].op);
  const Node& node = g.nodes[root];
  if (!kernel || kernel->name != "aten::_to_copy" || g.type(node.inputs[0]).dtype != DType::b8)
    return std::nullopt;
  const std::optional<Type> wanted = g.type(node.outputs[0]).dtype == DType::f32
                                         ? quantized_type(g, uses, node.outputs[0])
                                         : std::nullopt;
  const Face *const mask = face_of_operand(*kernel, 0), *const result = face_of_result(*kernel);
  if (!wanted || !has_steps(*wanted) || !mask || !result) return std::nullopt;
  const Quant& q = wanted->quant;
  PatchBuilder b(g, root, "");
  const auto step = [&](float x, const char* name) {
    const auto steps =
        static_cast<int8_t>(quantize_value(x, q.scale[0], q.zero_point[0], q.low, q.high));
    return b.constant(Type{DType::s8, {}, q}, constant_of(std::vector<int8_t>{steps}),
                      g.values[node.outputs[0]].name + name);
  };
  const std::vector<ValueId> inputs{node.inputs[0], step(1, "_one"), step(0, "_zero")};
  using K = KernelArg::Kind;
  auto where = *kernel;
  where.name = "aten::where", where.overload = "self_out";
  where.args = {{K::input, 0, 0, {}, *mask},
                {K::input, 1, 0, {}, plain_face({})},
                {K::input, 2, 0, {}, plain_face({})},
                {K::output, 0, 0, {}, *result}};
  if (!runtime_takes(b, where, inputs, {*wanted})) return std::nullopt;
  const ValueId y = b.add_typed(std::move(where), inputs, *wanted, g.values[node.outputs[0]].name);
  for (const NodeId n : uses.readers[node.outputs[0]]) b.replace(g.nodes[n].outputs[0], y);
  return b.done();
}

}  // namespace

std::span<const Rule> number_call_rules() {
  static constexpr Rule kRules[] = {move_steps, compare_steps, compare_int8, choose_steps};
  return kRules;
}

}  // namespace deuteron
