// SPDX-License-Identifier: Apache-2.0
#include "compile/simplify/float_constants.h"

#include <algorithm>

#include "ir/rewrite/borders.h"
#include "ops/families.h"

namespace deuteron {

ValueId float_constant(PatchBuilder& b, const GraphValue& steps) {
  std::vector<float> real(static_cast<size_t>(steps.type.elements()));
  const Quant& q = steps.type.quant;
  const i64 inner =
      q.per_channel() ? numel(std::span(steps.type.shape).subspan(static_cast<size_t>(q.axis) + 1))
                      : 1;
  for (size_t i = 0; i < real.size(); ++i) {
    const i64 c = q.per_channel() ? static_cast<i64>(i) / inner % steps.type.shape[q.axis] : 0;
    const i64 step = steps.type.dtype == DType::s8    ? steps.constant->as<int8_t>()[i]
                     : steps.type.dtype == DType::s16 ? steps.constant->as<int16_t>()[i]
                                                      : steps.constant->as<i32>()[i];
    real[i] = static_cast<float>(step - q.zero_point[c]) * q.scale[c];
  }
  return b.constant(Type{DType::f32, steps.type.shape, {}}, constant_of(std::move(real)),
                    steps.name);
}

// The steps that a dequantize of a constant reads; null for another node.
static const GraphValue* steps_of(const Graph& g, const Uses& uses, const Node& node) {
  const ValueId v = node.outputs.empty() ? -1 : dequantized(g, uses, node.outputs[0]);
  if (v < 0 || !g.is_constant(v)) return nullptr;
  const DType d = g.type(v).dtype;
  return d == DType::s8 || d == DType::s16 || d == DType::s32 ? &g.values[v] : nullptr;
}

bool has_only_quantized_constants(const Graph& g) {
  if (g.numerics == Numerics::tflite) return false;
  const Uses uses(g);
  return std::ranges::all_of(g.nodes, [&](const Node& n) {
    return !is_quantize_or_dequantize(n.op) || steps_of(g, uses, n);
  });
}

// dequantize(constant)   becomes   constant
std::optional<Patch> fold_dequantize_of_constant(const Graph& g, const Uses& uses, NodeId root) {
  const GraphValue* steps = steps_of(g, uses, g.nodes[root]);
  if (!steps) return std::nullopt;
  PatchBuilder b(g, root, "folded into a constant");
  return b.replace_root(float_constant(b, *steps));
}

// dequantize(constant)   becomes   constant, where no int8 layer took the steps and no kernel takes
// them
std::optional<Patch> fold_dequantize_without_kernel(const Graph& g, const Uses& uses, NodeId root) {
  const GraphValue* steps = steps_of(g, uses, g.nodes[root]);
  if (!steps || (!steps->type.quant.per_channel() && steps->type.dtype != DType::s32))
    return std::nullopt;
  return fold_dequantize_of_constant(g, uses, root);
}

}  // namespace deuteron
