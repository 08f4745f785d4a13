// SPDX-License-Identifier: Apache-2.0
// Quantized models: functions and layer norms that stand between dequantize and quantize, in parts
// that the NPU has. Nobody has told the ranges of the values between; they follow from the
// parameters around them.
#include <algorithm>
#include <cmath>

#include "compile/place/npu_forms.h"
#include "compile/place/npu_support.h"
#include "ir/rewrite/borders.h"
#include "ir/rewrite/forms.h"
#include "ops/families.h"
#include "ops/quantize/rounded.h"
#include "ops/unary/functions.h"

namespace deuteron {
namespace {

// What a node between int8 values reads and makes; nothing for a node elsewhere.
struct Ends {
  ValueId x;  // int8
  Quant from, to;
};
std::optional<Ends> ends_of(const Graph& g, const Uses& uses, const Node& node) {
  if (node.outputs.size() != 1) return std::nullopt;
  const ValueId x = dequantized(g, uses, node.inputs[0]);
  const std::optional<Type> y = quantized_type(g, uses, node.outputs[0]);
  if (x < 0 || g.is_constant(x) || !y || y->dtype != DType::s8 || y->quant.per_channel())
    return std::nullopt;
  if (g.type(x).dtype != DType::s8 || g.type(x).quant.per_channel()) return std::nullopt;
  return Ends{x, g.type(x).quant, y->quant};
}

// What a step tells apart of its operand's range: a clamp what lies within its bounds, a function
// whose result has fixed parameters what has other steps there, and one step of the operand more.
// Rounded to its steps, a range may end half of one before its bound, where the function has not
// reached its last step: a sigmoid of large values was 254/256 for 255/256.
Bounds told_apart(const PointStep& s, Bounds range) {
  if (s.fn == PointFn::clamp)
    return {std::max(range.low, std::min(s.bounds.low, 0.0f)),
            std::min(range.high, std::max(s.bounds.high, 0.0f))};
  const FixedResult& fixed = row_of(s.unary).fixed;
  if (s.fn != PointFn::unary || fixed.scale == 0) return range;
  const auto step = [&](float v) {
    return quantize_value(row_of(s.unary).value(v, s.alpha), fixed.scale, fixed.zero_point, -128,
                          127);
  };
  constexpr int kSlices = 1024;
  const float slice = (range.high - range.low) / kSlices;
  Bounds told = range;
  while (told.low + slice < told.high && step(told.low + slice) == step(range.low))
    told.low += slice;
  while (told.high - slice > told.low && step(told.high - slice) == step(range.high))
    told.high -= slice;
  const float margin = (told.high - told.low) / 255;
  return {std::max(range.low, told.low - margin), std::min(range.high, told.high + margin)};
}

// The range of each step over all values of x, which are 256: exact, but for what its only reader
// cannot tell apart.
std::optional<std::vector<Quant>> parameters_of_steps(const PointProgram& program, const Quant& x) {
  std::vector<Quant> found;
  for (size_t k = 0; k < program.steps.size(); ++k) {
    const PointStep& s = program.steps[k];
    // These keep the parameters of their operand.
    if (s.fn == PointFn::minimum || s.fn == PointFn::maximum) return std::nullopt;
    if (s.fn == PointFn::clamp) {
      found.push_back(s.a.from >= 0 ? found[static_cast<size_t>(s.a.from)] : x);
      continue;
    }
    if (const FixedResult& fixed = row_of(s.unary).fixed;
        s.fn == PointFn::unary && fixed.scale != 0) {
      found.push_back(per_tensor(fixed.scale, fixed.zero_point));
      continue;
    }
    const PointProgram until{
        {program.steps.begin(), program.steps.begin() + static_cast<std::ptrdiff_t>(k) + 1}};
    Bounds range{0, 0};
    for (i32 step = x.low; step <= x.high; ++step) {
      const float v = evaluate(until, real_of(x, step));
      if (!std::isfinite(v)) return std::nullopt;
      range.low = std::min(range.low, v), range.high = std::max(range.high, v);
    }
    const auto reads = [&](const PointStep& r) {
      return r.a.from == static_cast<i64>(k) ||
             (has_second_operand(r.fn) && r.b.from == static_cast<i64>(k));
    };
    const auto reader = std::find_if(program.steps.begin(), program.steps.end(), reads);
    if (reader != program.steps.end() && std::count_if(reader, program.steps.end(), reads) == 1)
      range = told_apart(*reader, range);
    found.push_back(quant_over(range.low, range.high));
  }
  return found;
}

// quantize(gelu(dequantize(x)))   becomes   the same with quantize and dequantize between the steps
// of gelu; likewise for every function Whatever --layer NAME=cpu says: where the parts run must not
// change what they compute.
std::optional<Patch> function_in_parts(const Graph& g, const Uses& uses, NodeId root,
                                       const RuleContext& context) {
  const Node& node = g.nodes[root];
  if (!has_program(node.op) || bounds_of(node.op) || node.inputs.size() != 1) return std::nullopt;
  const std::optional<Ends> ends = ends_of(g, uses, node);
  if (!ends) return std::nullopt;
  const NpuLimits& limits = context.target->npu->limits;
  const Type &x = g.type(node.inputs[0]), &y = g.type(node.outputs[0]);
  const Type *in[] = {&x}, *out[] = {&y};
  const Constant* data[] = {nullptr};
  if (passed(npu_checks(node.op, {TypeView(in), TypeView(out), data, limits}))) return std::nullopt;
  const std::optional<PointProgram> program = in_builtins(node.op);
  if (!program || program->steps.size() < 2 || !are_taken(*program, x, limits)) return std::nullopt;
  const std::optional<std::vector<Quant>> quants = parameters_of_steps(*program, ends->from);
  if (!quants) return std::nullopt;
  PatchBuilder b(g, root, "");
  std::vector<ValueId> values;
  const auto value = [&](const PointOperand& o) {
    return o.from >= 0 ? values[static_cast<size_t>(o.from)] : node.inputs[0];
  };
  for (size_t k = 0; k < program->steps.size(); ++k) {
    const PointStep& s = program->steps[k];
    std::vector<ValueId> inputs{value(s.a)};
    if (takes_two(s)) inputs.push_back(value(s.b));
    const ValueId v = b.add(operator_of(s), std::move(inputs));
    values.push_back(k + 1 == program->steps.size() ? v : rounded(b, v, (*quants)[k]));
  }
  return b.replace_root(values.back());
}

// layer_norm between int8 values   becomes   its parts with quantize and dequantize between them
// With the NPU alone: the parts are two to three times as far from the norm as the CPU's kernel,
// which is exact to half a step.
std::optional<Patch> operator_in_parts(const Graph& g, const Uses& uses, NodeId root,
                                       const RuleContext& context) {
  if (context.target->has_backend("cortex_m")) return std::nullopt;
  return form_of(g, uses, root, FormKind::rounded_parts);
}

}  // namespace

std::span<const Rule> quantized_npu_rules() {
  static constexpr Rule kRules[] = {function_in_parts, operator_in_parts};
  return kRules;
}

}  // namespace deuteron
