// SPDX-License-Identifier: Apache-2.0
// dequantize -> operator -> quantize   becomes   the operator on int8. Rounding of operators that
// must keep their operand's parameters stays where the model had it: a change of parameters behind
// them becomes an operator of its own.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compile/calibrate/calibrate.h"
#include "compile/compilation.h"
#include "compile/pass.h"
#include "compile/precision/finer_sums.h"
#include "compile/precision/state_steps.h"
#include "compile/quantize/quantization_clusters.h"
#include "compile/quantize/recurrent.h"
#include "compile/simplify/float_constants.h"
#include "compile/simplify/fold_number_calls.h"
#include "ir/rewrite/borders.h"
#include "ir/rewrite/fuse_rules.h"
#include "ir/rewrite/view_rules.h"
#include "kernels/integer/requantize.h"
#include "ops/common/multiplier.h"
#include "ops/common/requantize_numbers.h"
#include "ops/families.h"
#include "ops/int16.h"
#include "targets/target.h"

namespace deuteron {

ValueId with_parameters(PatchBuilder& b, ValueId v, const Quant& quant) {
  return b.add(Clamp{}, {v}, quant);
}

static bool fits(const QuantSpec& spec, const Type& t) {
  if (t.dtype != spec.dtype) return false;
  if (spec.gran != Gran::per_channel) return !t.quant.per_channel();
  return !t.quant.per_channel() || t.quant.axis == spec.axis;
}

// A float constant beside int8 operands: int8 over its own range.
static ValueId quantize_constant(PatchBuilder& b, const GraphValue& value, bool symmetric) {
  const Observation seen = observed_constant(value.constant->as<float>());
  const ActivationQuant q = choose(seen, Observer::min_max, symmetric, -128, 127);
  return quantize_constant(b, value, per_tensor(q.scale, q.zero_point));
}

// The whole number of steps of `scale` nearest to `real`; one beside it where only that answers an
// input of zeros, which is what padding and relu make most of the time, with the step of y that
// float rounds to.
static i32 bias_steps(double real, double scale, const Quant& y) {
  const double nearest = std::clamp(std::nearbyint(real / scale), -2147483647.0, 2147483646.0);
  const double ratio = scale / y.scale[0];
  const std::optional<Multiplier> m = multiplier_of(ratio, form_of(Rounding::once));
  if (!m) return static_cast<i32>(nearest);
  const i32 wanted =
      quantize_value(static_cast<float>(real), y.scale[0], y.zero_point[0], y.low, y.high);
  const auto answers = [&](double steps) {
    return clamp_to(requantize(static_cast<i32>(steps), m->value, m->shift) + y.zero_point[0],
                    y.low, y.high) == wanted;
  };
  for (const double steps : {nearest, nearest - 1, nearest + 1})
    if (answers(steps)) return static_cast<i32>(steps);
  return static_cast<i32>(nearest);
}

// A bias in steps of x.scale * weight.scale[c].
static std::optional<ValueId> quantize_bias(PatchBuilder& b, const Graph& g, const Uses& uses,
                                            ValueId v, const Quant& x, const Quant& weight,
                                            const Quant& y) {
  const ValueId known = dequantized(g, uses, v);
  const GraphValue& value = g.values[known >= 0 ? known : v];
  if (!value.constant) return std::nullopt;
  const i64 channels = value.type.elements();
  std::vector<i32> steps(channels);
  Quant quant;
  quant.axis = weight.per_channel() ? 0 : -1;
  quant.low = INT32_MIN;
  quant.high = INT32_MAX;
  for (i64 c = 0; c < channels; ++c) {
    const size_t k = weight.per_channel() ? c : 0;
    const double scale = static_cast<double>(x.scale[0]) * weight.scale[k];
    if (quant.scale.size() <= k) {
      quant.scale.push_back(static_cast<float>(scale));
      quant.zero_point.push_back(0);
    }
    double real;
    // TFLite adds the integers of the file, whatever scale stands beside them.
    if (g.numerics == Numerics::tflite && value.type.dtype == DType::s64) continue;
    if (g.numerics == Numerics::tflite && value.type.dtype == DType::s32 &&
        !value.type.quant.empty()) {
      steps[c] = value.constant->as<i32>()[c];
      continue;
    }
    if (value.type.dtype == DType::s32 && !value.type.quant.empty()) {
      const size_t own = value.type.quant.per_channel() ? c : 0;
      real =
          (static_cast<double>(value.constant->as<i32>()[c]) - value.type.quant.zero_point[own]) *
          value.type.quant.scale[own];
    } else if (value.type.dtype == DType::f32) {
      real = value.constant->as<float>()[c];
    } else {
      return std::nullopt;
    }
    steps[c] = bias_steps(real, scale, y);
  }
  if (g.numerics == Numerics::tflite && value.type.dtype == DType::s64)
    return b.constant(Type{DType::s64, value.type.shape, std::move(quant)}, *value.constant,
                      value.name);
  return b.constant(Type{DType::s32, value.type.shape, std::move(quant)},
                    constant_of(std::move(steps)), value.name);
}

// A constant behind a dequantize as the float that it stands for; every other value as it is.
static ValueId float_constant(PatchBuilder& b, const Graph& g, const Uses& uses, ValueId v) {
  const ValueId known = dequantized(g, uses, v);
  if (known < 0 || !g.is_constant(known)) return v;
  return float_constant(b, g.values[known]);
}

// Operands as int8; nothing when one is not to be had.
static std::optional<std::vector<ValueId>> int8_operands(PatchBuilder& b, const Graph& g,
                                                         const Uses& uses, const Node& node,
                                                         std::span<const QuantSpec> specs,
                                                         const Quant& result) {
  std::vector<ValueId> inputs;
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    const ValueId v = node.inputs[k];
    const QuantSpec& spec = operand_spec(specs, k);
    if (spec.gran == Gran::derived) {
      const std::optional<ValueId> bias =
          quantize_bias(b, g, uses, v, b.type(inputs[0]).quant, b.type(inputs[1]).quant, result);
      if (!bias) return std::nullopt;
      inputs.push_back(*bias);
      continue;
    }
    if (spec.gran == Gran::none) {
      inputs.push_back(float_constant(b, g, uses, v));
      continue;
    }
    if (g.is_constant(v) && g.type(v).dtype == DType::f32 &&
        (spec.gran == Gran::per_tensor || spec.gran == Gran::shared)) {
      const bool follows = node.inputs.size() > 1 && specs.back().gran == Gran::shared;
      inputs.push_back(follows ? quantize_constant(b, g.values[v], result)
                               : quantize_constant(b, g.values[v], spec.symmetric));
      continue;
    }
    const ValueId steps = dequantized(g, uses, v);
    if (steps < 0 || !fits(spec, g.type(steps))) return std::nullopt;
    if (spec.gran == Gran::per_channel && !g.is_constant(steps)) return std::nullopt;
    inputs.push_back(steps);
  }
  // Operands that must all have the result's parameters get them here, where the model gave them
  // others.
  if (node.inputs.size() > 1 && specs.back().gran == Gran::shared && specs[1].gran == Gran::shared)
    for (ValueId& v : inputs)
      if (b.type(v).quant != result) v = b.add(Clamp{}, {v}, result);
  return inputs;
}

// The parameters that the operator itself must have for its result.
static Quant own_quant(const QuantSpec& result, const Type& first, const Type& wanted) {
  if (result.gran == Gran::shared) return first.quant;
  if (result.gran != Gran::fixed) return wanted.quant;
  if (result.dtype != DType::s16) return per_tensor(result.fixed_scale, result.fixed_zero);
  const bool is_it = wanted.quant.scale[0] == result.fixed_scale &&
                     wanted.quant.zero_point[0] == result.fixed_zero;
  return is_it ? wanted.quant : per_tensor(result.fixed_scale, result.fixed_zero, -32768, 32767);
}

// How an operator is quantized whose result has this type.
static std::span<const QuantSpec> specs_of(const Graph& g, const Uses& uses, const Node& node,
                                           DType result) {
  if (result != DType::s16) return quant_specs(node.op);
  if (g.numerics == Numerics::tflite) return tflite_int16_quant_specs(node.op);
  const ValueId first = node.inputs.empty() ? -1 : dequantized(g, uses, node.inputs[0]);
  return first >= 0 && g.type(first).dtype == DType::s8 ? int16_result_quant_specs(node.op)
                                                        : int16_quant_specs(node.op);
}

// quantize(op(dequantize(x), ..))   becomes   op(x, ..) on int8 or int16, then a clamp without
// bounds where the parameters change
static std::optional<Patch> fold_int8(const Graph& g, const Uses& uses, NodeId root) {
  const Node& node = g.nodes[root];
  if (node.outputs.size() != 1 || state_results(node.op) > 0 || is_quantize_or_dequantize(node.op))
    return std::nullopt;
  const std::optional<Type> wanted = quantized_type(g, uses, node.outputs[0]);
  if (!wanted || (wanted->dtype != DType::s8 && wanted->dtype != DType::s16)) return std::nullopt;
  const std::span<const QuantSpec> specs = specs_of(g, uses, node, wanted->dtype);
  if (specs.empty() || g.type(node.outputs[0]).dtype != DType::f32) return std::nullopt;
  PatchBuilder b(g, root, "");
  const std::optional<std::vector<ValueId>> inputs =
      int8_operands(b, g, uses, node, specs, wanted->quant);
  if (!inputs) return std::nullopt;
  const Quant quant = own_quant(specs.back(), b.type((*inputs)[0]), *wanted);
  ValueId y = b.add(node.op, *inputs, quant, g.values[node.outputs[0]].name);
  if (b.type(y) != *wanted)
    y = b.add(Clamp{}, {y}, wanted->quant, g.values[node.outputs[0]].name + ".requantized");
  for (const NodeId n : uses.readers[node.outputs[0]]) b.replace(g.nodes[n].outputs[0], y);
  return b.done();
}

// clamp(dequantize(quantize(conv(..))))   becomes   conv(..) within the clamp's bounds and what the
// middle could hold For quantizers that do not take a convolution and its activation as one: the
// result is rounded once, to the parameters behind the clamp, and no kernel is left of the clamp.
// Refused when anybody else reads the middle, or the clamp's result stays a float.
static std::optional<Patch> fuse_clamp_behind_quantization(const Graph& g, const Uses& uses,
                                                           NodeId root) {
  const Node& node = g.nodes[root];
  Op op = node.op;
  Bounds* bounds = bounds_of(op);
  const std::span<const QuantSpec> specs = quant_specs(op);
  if (!bounds || is_elementwise(op) || specs.empty() || specs.back().gran != Gran::per_tensor)
    return std::nullopt;
  if (g.numerics == Numerics::tflite) return std::nullopt;  // rounded twice, as the model says
  const auto only_reader = [&](ValueId v) {
    return uses.has_single_reader(v) ? uses.readers[v][0] : -1;
  };
  const NodeId quantize = only_reader(node.outputs[0]);
  if (quantize < 0 || !is_quantize(g.nodes[quantize].op)) return std::nullopt;
  const NodeId dequantize = only_reader(g.nodes[quantize].outputs[0]);
  if (dequantize < 0 || !is_dequantize(g.nodes[dequantize].op)) return std::nullopt;
  const NodeId last = only_reader(g.nodes[dequantize].outputs[0]);
  const Bounds* clamp = last < 0 ? nullptr : sole_bounds(g.nodes[last].op);
  const Type& middle = g.type(g.nodes[quantize].outputs[0]);
  if (!clamp || middle.dtype != DType::s8 || middle.quant.per_channel() ||
      !quantized_type(g, uses, g.nodes[last].outputs[0]))
    return std::nullopt;
  for (const Bounds& b : {*clamp, range_of(middle.quant)})
    bounds->low = std::max(bounds->low, b.low), bounds->high = std::min(bounds->high, b.high);
  if (bounds->low > bounds->high) return std::nullopt;
  PatchBuilder b(g, root, "rounded once, behind the clamp");
  b.replace(g.nodes[last].outputs[0],
            b.add(std::move(op), node.inputs, {}, g.values[g.nodes[last].outputs[0]].name));
  return b.done();
}

// clamp(dequantize(x)), maximum pool likewise, whose result nobody quantizes   becomes
// dequantize(clamp(x)): the parameters pass through
template <class T>
static std::optional<Patch> pass_parameters_through(const T&, const Graph& g, const Uses& uses,
                                                    NodeId root) {
  const Node& node = g.nodes[root];
  if (quantized_type(g, uses, node.outputs[0])) return std::nullopt;
  const ValueId steps = dequantized(g, uses, node.inputs[0]);
  if (steps < 0) return std::nullopt;
  const Type& x = g.type(steps);
  const bool is_steps =
      x.dtype == DType::s8 || (x.dtype == DType::s16 && g.numerics == Numerics::tflite);
  if (!is_steps || x.quant.per_channel()) return std::nullopt;
  PatchBuilder b(g, root, "");
  return b.replace_root(Dequantize{},
                        {b.add(node.op, {steps}, x.quant, g.values[node.outputs[0]].name)});
}

// The hidden state of an LSTM of which only the cells are wanted: it lies within -1..1.
static Type state_of_cells(const Type& cells) {
  const bool wide = cells.dtype == DType::s16;
  return {cells.dtype, cells.shape,
          wide ? per_tensor(0x1p-15f, 0, -32768, 32767) : per_tensor(0x1p-7f, 0)};
}

// The same for a recurrent layer, whose results share the parameters of the state. What is wanted
// as float, or with other parameters than the first result has, is converted behind the layer.
static std::optional<Patch> fold_recurrent(const Graph& g, const Uses& uses, NodeId root,
                                           const RuleContext& context) {
  const Node& node = g.nodes[root];
  const i64 states = state_results(node.op);
  if (states == 0 || g.type(node.outputs[0]).dtype != DType::f32) return std::nullopt;
  // Its weights have no steps that would say what is meant.
  if (context.decided &&
      std::ranges::any_of(context.decided->quantization.in_float,
                          [&](const InFloat& f) { return f.origin == node.origin; }))
    return std::nullopt;
  const auto is_read = [&](ValueId v) {
    return !uses.readers[v].empty() || uses.output_uses[v] != 0;
  };
  std::optional<Type> state;
  for (i64 k = 0; k < states && !state; ++k) state = quantized_type(g, uses, node.outputs[k]);
  bool unread = true;
  for (i64 k = 0; k < states; ++k) unread = unread && !is_read(node.outputs[k]);
  // Only the cells are wanted: the hidden state of an LSTM lies within -1..1.
  const std::optional<Type> cells = quantized_type(g, uses, node.outputs.back());
  if (!state && unread && cells) state = state_of_cells(*cells);
  if (!state || (state->dtype != DType::s8 && state->dtype != DType::s16) ||
      state->quant.per_channel())
    return std::nullopt;
  if (state->dtype == DType::s16 && g.numerics == Numerics::tflite) return std::nullopt;
  const std::span<const QuantSpec> specs =
      state->dtype == DType::s16 ? int16_quant_specs(node.op) : quant_specs(node.op);
  if (specs.empty()) return std::nullopt;
  PatchBuilder b(g, root, "");
  const std::optional<std::vector<ValueId>> inputs =
      int8_operands(b, g, uses, node, specs, state->quant);
  if (!inputs) return std::nullopt;
  std::vector<Quant> quants;
  std::vector<std::string> names;
  std::vector<std::optional<Type>> wanted;
  for (size_t k = 0; k < node.outputs.size(); ++k) {
    wanted.push_back(quantized_type(g, uses, node.outputs[k]));
    const bool own = static_cast<i64>(k) >= states;
    if (own && !wanted.back() && is_read(node.outputs[k]))
      return std::nullopt;  // nobody has said its range
    quants.push_back(!own            ? state->quant
                     : wanted.back() ? wanted.back()->quant
                                     : per_tensor(1.0f, 0));
    names.push_back(g.values[node.outputs[k]].name);
  }
  const ValueId first = b.add_results(node.op, *inputs, quants, names);
  for (size_t k = 0; k < node.outputs.size(); ++k) {
    ValueId y = first + static_cast<ValueId>(k);
    const ValueId old = node.outputs[k];
    if (!is_read(old)) continue;
    if (!wanted[k]) {
      b.replace(old, b.add(Dequantize{}, {y}, {}, names[k] + ".float"));
      continue;
    }
    if (b.type(y) != *wanted[k])
      y = b.add(Clamp{}, {y}, wanted[k]->quant, names[k] + ".requantized");
    for (const NodeId n : uses.readers[old]) b.replace(g.nodes[n].outputs[0], y);
  }
  return b.done();
}

// quantize(dequantize(x))   becomes   x, or a clamp without bounds where the parameters change, or
// quantize(x) from int8 to int16 and back Both stay where no kernel does it at once: for stock
// firmware, and with scales that requantize_numbers() refuses.
static std::optional<Patch> fold_pair(const Graph& g, const Uses& uses, NodeId root,
                                      const RuleContext& context) {
  if (!is_quantize(g.nodes[root].op)) return std::nullopt;
  const ValueId x = dequantized(g, uses, g.nodes[root].inputs[0]);
  if (x < 0) return std::nullopt;
  const Type &from = g.type(x), &wanted = g.type(g.nodes[root].outputs[0]);
  PatchBuilder b(g, root, "quantize after dequantize with the same parameters");
  if (from == wanted) return b.replace_root(x);
  if (from.dtype == DType::s8 && wanted.dtype == DType::s8 && !from.quant.per_channel())
    return b.replace_root(Clamp{}, {x});
  if (context.target->options.is_for_stock() || g.is_constant(x)) return std::nullopt;
  if (g.numerics == Numerics::tflite) {
    const auto is_steps = [](const Type& t) {
      return (t.dtype == DType::s8 || t.dtype == DType::s16) && !t.quant.per_channel();
    };
    if (!is_steps(from) || !is_steps(wanted)) return std::nullopt;
    if (from.dtype == DType::s16 && wanted.dtype == DType::s16) return b.replace_root(Clamp{}, {x});
    return b.replace_root(g.nodes[root].op, {x});
  }
  if (!requantize_numbers(from, wanted)) return std::nullopt;
  return b.replace_root(g.nodes[root].op, {x});
}

// The result is made of the operand's elements and of nothing else but zeros, each of them once or
// as often as an index says. Zero is a step whatever the scale.
static bool picks_elements(const Graph& g, NodeId root) {
  if (pads_with_zeros(g.nodes[root].op)) return true;
  const OpFacts f = facts_of(g.nodes[root].op);
  const bool moves = f.values == Values::same || f.values == Values::moved;
  return f.family == Family::movement && f.storage != Storage::around_operands && moves &&
         !op_as<Expand>(g, root) && !op_as<Resize2d>(g, root);
}

// permute(dequantize(x))   becomes   dequantize(permute(x)); reshape, slice, gather and a padding
// with zeros likewise
static std::optional<Patch> move_view_to_int8(const Graph& g, const Uses& uses, NodeId root) {
  const Node& node = g.nodes[root];
  if (!picks_elements(g, root)) return std::nullopt;
  const ValueId x = dequantized(g, uses, node.inputs[0]);
  if (x < 0 || g.is_constant(x)) return std::nullopt;
  if (g.type(x).quant.per_channel()) return std::nullopt;
  PatchBuilder b(g, root, "");
  return b.replace_root(Dequantize{},
                        {b.add(node.op, {x}, g.type(x).quant, g.values[node.outputs[0]].name)});
}

// concat(dequantize(x), ..), whose result nobody quantizes   becomes   dequantize(concat(x, ..)),
// over the range of all of them
static std::optional<Patch> move_concat_to_int8(const Graph& g, const Uses& uses, NodeId root) {
  if (facts_of(g.nodes[root].op).storage != Storage::around_operands) return std::nullopt;
  const Node& node = g.nodes[root];
  std::vector<ValueId> inputs;
  std::vector<const Quant*> parameters;
  for (const ValueId v : node.inputs) {
    const ValueId steps = dequantized(g, uses, v);
    if (steps < 0) return std::nullopt;
    const Type& x = g.type(steps);
    if (x.dtype != DType::s8 || x.quant.per_channel()) return std::nullopt;
    inputs.push_back(steps);
    parameters.push_back(&x.quant);
  }
  const bool same = std::all_of(parameters.begin(), parameters.end(),
                                [&](const Quant* q) { return *q == *parameters[0]; });
  const Quant quant = same ? *parameters[0] : spanning(parameters);
  PatchBuilder b(g, root, "");
  for (ValueId& v : inputs)
    if (b.type(v).quant != quant) v = b.add(Clamp{}, {v}, quant);
  return b.replace_root(Dequantize{},
                        {b.add(node.op, std::move(inputs), quant, g.values[node.outputs[0]].name)});
}

void fold_quantization(PassContext& pass) {
  static constexpr Rule kRules[] = {fold_pair,
                                    fold_recurrent,
                                    fuse_clamp_behind_quantization,
                                    fold_int8,
                                    kRule<pass_parameters_through<Clamp>>,
                                    kRule<pass_parameters_through<MaxPool2d>>,
                                    move_view_to_int8,
                                    move_concat_to_int8};
  std::vector<Rule> rules(view_rules().begin(), view_rules().end());
  rules.insert(rules.end(), std::begin(kRules), std::end(kRules));
  rules.insert(rules.end(), number_call_rules().begin(), number_call_rules().end());
  give_states_steps(pass.graph);
  rewrite(pass.graph, rules, pass.rules());
  // Only now is it known which steps no int8 layer takes.
  std::vector<Rule> last(view_rules().begin(), view_rules().end());
  last.push_back(fold_dequantize_without_kernel);
  rewrite(pass.graph, last, pass.rules());
  // Weights that are given may have few bits; those of a float model fill int8. Without an NPU sums
  // are rounded once.
  if (pass.target.npu && pass.result.quantization.model_was_quantized) make_sums_finer(pass.graph);
}

}  // namespace deuteron
