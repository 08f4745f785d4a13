// SPDX-License-Identifier: Apache-2.0
// An int8 operator that no kernel takes runs in float, between explicit dequantize and quantize.
// For stock firmware our own kernels do not count; what then has no float form either is refused at
// the end (--dialect stock).
#include "compile/lower/float_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/tensor/elements.h"
#include "compile/compilation.h"
#include "compile/lower/call_node.h"
#include "compile/lower/portable_calls.h"
#include "compile/pass.h"
#include "compile/plan/homes.h"
#include "ir/rewrite/borders.h"
#include "ir/rewrite/forms.h"
#include "ir/rewrite/patch.h"
#include "ir/rewrite/view_rules.h"
#include "ops/families.h"
#include "ops/int16.h"
#include "targets/target.h"

namespace deuteron {

static bool has_int8_kernel(const Graph& g, const Node& node, const Target& target) {
  std::vector<const Type*> in, out;
  std::vector<const Constant*> data;
  for (const ValueId v : node.inputs)
    data.push_back(g.values[v].constant ? &*g.values[v].constant : nullptr);
  const bool for_stock = target.options.is_for_stock();
  // int16 has other kernels for TFLite's rounding.
  const TypeView operands = g.types(node.inputs, in), results = g.types(node.outputs, out);
  const Rounding rounding =
      works_on_int16(operands, results) ? rounding_of(g, node, target) : Rounding::once;
  const LowerContext context{operands, results,         data,     target.isa,
                             rounding, target.cmsis_nn, for_stock};
  const Result<Lowered> call = lower_to_cortex_m(node.op, context);
  return call && !(for_stock && is_own_dialect(call->call));
}

// The same operator on float types: nothing, when no portable kernel takes it.
static std::optional<Op> float_op(const Graph& g, const Node& node, Isa isa) {
  Op op = node.op;
  if (has_bounds_beside(op)) *bounds_of(op) = {};
  std::vector<Type> types;
  for (const auto* list : {&node.inputs, &node.outputs})
    for (const ValueId v : *list) types.push_back({DType::f32, g.type(v).shape, {}});
  std::vector<const Type*> in, out;
  for (size_t k = 0; k < types.size(); ++k)
    (k < node.inputs.size() ? in : out).push_back(&types[k]);
  const std::vector<const Constant*> data(node.inputs.size());
  if (!float_call(op, {TypeView(in), TypeView(out), data, isa})) return std::nullopt;
  return op;
}

// f with bounds, in float   becomes   clamp(f): the portable kernels have none
static std::optional<Patch> without_bounds(const Graph& g, const Uses&, NodeId root) {
  const Node& node = g.nodes[root];
  if (!has_bounds_beside(node.op) || g.type(node.outputs[0]).dtype != DType::f32)
    return std::nullopt;
  Op op = node.op;
  const Clamp clamp{std::exchange(*bounds_of(op), {})};
  PatchBuilder b(g, root, "");
  return b.replace_root(clamp, {b.add(std::move(op), node.inputs, {},
                                      g.values[node.outputs[0]].name + "_unbounded")});
}

// An operator in float that no portable kernel computes   becomes   what it is made of: OpDef::form
static std::optional<Patch> spelled_out(const Graph& g, const Uses& uses, NodeId root,
                                        const RuleContext& context) {
  if (has_form(g.nodes[root].op, FormKind::parts) &&
      !float_op(g, g.nodes[root], context.target->isa))
    return in_parts(g, uses, root);
  return form_of(g, uses, root, FormKind::portable);
}

static bool is_steps(const Type& t) {
  return t.dtype == DType::s8 && !t.quant.empty() && !t.quant.per_channel();
}
static bool changes_nothing(const Graph& g, const Node& affine) {
  const auto is_all = [&](ValueId v, float number) {
    return std::ranges::all_of(g.values[v].constant->as<float>(),
                               [&](float x) { return x == number; });
  };
  return is_all(affine.inputs[1], 0) && is_all(affine.inputs[2], 1);
}

// quantize(affine(x))   becomes   one call; not for stock firmware, which has none
static std::optional<Patch> quantize_channels(const Graph& g, const Uses& uses, NodeId root,
                                              const RuleContext& context) {
  const Quant* quant = quantizes_to(g, root);
  const NodeId above = quant ? producer_as<Affine>(g, uses, g.nodes[root].inputs[0]) : -1;
  if (above < 0 || context.target->options.is_for_stock() ||
      !is_steps(g.type(g.nodes[root].outputs[0])))
    return std::nullopt;
  const Node& affine = g.nodes[above];
  if (changes_nothing(g, affine) || g.type(affine.inputs[0]).dtype != DType::f32)
    return std::nullopt;
  PatchBuilder b(g, root, "");
  return b.replace_root(Affine{*quant}, affine.inputs);
}

// affine(dequantize(x))   becomes   one call, likewise
static std::optional<Patch> dequantize_channels(const Affine&, const Graph& g, const Uses& uses,
                                                NodeId root, const RuleContext& context) {
  const Node& affine = g.nodes[root];
  if (context.target->options.is_for_stock() || changes_nothing(g, affine)) return std::nullopt;
  const ValueId steps = dequantized(g, uses, affine.inputs[0]);
  if (steps < 0 || !is_steps(g.type(steps)) || g.type(affine.outputs[0]).dtype != DType::f32)
    return std::nullopt;
  PatchBuilder b(g, root, "");
  return b.replace_root(Affine{}, {steps, affine.inputs[1], affine.inputs[2]});
}

// Or an int16 one.
static bool is_int8_operator(const Graph& g, const Node& node) {
  if (is_lowered(node.op) || is_quantize_or_dequantize(node.op) || takes_no_time(node.op) ||
      node.outputs.size() != 1)
    return false;
  const Type& type = g.type(node.outputs[0]);
  return (type.dtype == DType::s8 || type.dtype == DType::s16) && !type.quant.empty() &&
         !type.quant.per_channel();
}

// f(x, ..) on int8   becomes   quantize(clamp(f(dequantize(x), ..)))
static std::optional<Patch> island(const Graph& g, const Uses&, NodeId root,
                                   const RuleContext& context) {
  const Node& node = g.nodes[root];
  if (!is_int8_operator(g, node) || has_int8_kernel(g, node, *context.target)) return std::nullopt;
  std::optional<Op> op = float_op(g, node, context.target->isa);
  if (!op && has_form(node.op, FormKind::portable)) op = node.op;  // is spelled out then
  if (!op) return std::nullopt;
  PatchBuilder b(g, root, "");
  std::vector<ValueId> inputs;
  for (const ValueId v : node.inputs) {
    const GraphValue& value = g.values[v];
    if (value.type.dtype == DType::f32) inputs.push_back(v);
    else if (value.type.quant.empty() && facts_of(node.op).family == Family::layer)
      return std::nullopt;  // a bias whose steps nobody has said
    else if (value.constant)
      inputs.push_back(b.constant({DType::f32, value.type.shape, {}},
                                  constant_of(numbers_of(value.constant->bytes.data(), value.type)),
                                  value.name));
    else if (value.type.quant.empty()) return std::nullopt;
    else inputs.push_back(b.add(Dequantize{}, {v}, {}, value.name + "_float"));
  }
  const std::string& name = g.values[node.outputs[0]].name;
  ValueId y = b.add(*std::move(op), std::move(inputs), {}, name + "_float");
  if (has_bounds_beside(node.op)) y = b.add(Clamp{*bounds_of(node.op)}, {y}, {}, name + "_bounded");
  return b.replace_root(Quantize{g.type(node.outputs[0]).quant}, {y});
}

// What samples would change.
static void note_recurrent_layers(const Graph& g, Diagnostics& diagnostics) {
  for (const Node& node : g.nodes)
    if (facts_of(node.op).family == Family::recurrent &&
        g.type(node.outputs[0]).dtype == DType::f32)
      diagnostics.add({Severity::note, fmt::format("{}: {}", g.name, describe(g, node)),
                       "the model came quantized and leaves its input in float, so there is no "
                       "int8 range for it",
                       "", "", "recurrent.float",
                       "give samples with --calibrate: then it runs in int8"});
}

void leftovers(PassContext& pass) {
  if (pass.result.quantization.model_was_quantized)
    note_recurrent_layers(pass.graph, pass.diagnostics);
  static constexpr Rule kChannels[] = {
      quantize_channels, kRule<dequantize_channels>};  // before what is not taken is spelled out
  rewrite(pass.graph, kChannels, pass.rules());
  std::vector<Rule> rules(view_rules().begin(), view_rules().end());
  rules.insert(rules.end(), {without_bounds, spelled_out, recurrent_in_steps, island});
  rewrite(pass.graph, rules, pass.rules());
}

}  // namespace deuteron
