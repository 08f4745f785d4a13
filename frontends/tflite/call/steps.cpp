// SPDX-License-Identifier: Apache-2.0
// Between the steps of quantized tensors and the real values that operators work with.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "frontends/tflite/call/call.h"
#include "frontends/tflite/call/fold.h"
#include "ops/families.h"

namespace deuteron::tflite {

// A node that several operators need is all of theirs.
ValueId Call::steps_to_real(ModelTensor& t) {
  if (t.real < 0) {
    t.real = state_.graph.add_node(Dequantize{}, {value_of(t)}, {{DType::f32, t.type.shape, {}}},
                                   t.name + ".real", {index_});
    t.to_real = static_cast<NodeId>(state_.graph.nodes.size()) - 1;
    return t.real;
  }
  for (const NodeId n : {t.to_real, t.to_steps})
    if (n >= 0 && t.maker < 0)
      state_.graph.nodes[n].origin = merge(state_.graph.nodes[n].origin, {index_});
  return t.real;
}

// An input in steps is given as real values and rounded by its first reader.
ValueId Call::steps_of(ModelTensor& t) {
  if (!t.constant && t.maker < 0 && t.to_steps < 0) {
    t.value = state_.graph.add_node(Quantize{t.type.quant}, {t.value}, {t.type}, t.name + ".steps",
                                    {index_});
    t.to_steps = static_cast<NodeId>(state_.graph.nodes.size()) - 1;
  }
  return value_of(t);
}

ValueId Call::steps_value(size_t i) {
  ModelTensor* t = tensor(i);
  if (t)
    require(!t->type.quant.empty(), fmt::format("operand {} has no scale", i), to_text(t->type),
            "INT8, UINT8", "tflite.quant.missing");
  return ok_ ? steps_of(*t) : -1;
}

ValueId Call::to_steps(ValueId v, const Quant& quant, std::string_view suffix) {
  return add(Quantize{quant}, {v}, suffix);
}

ValueId Call::bias(size_t i, const Type& x, const Type& weight, i64 channels) {
  ModelTensor* t = tensor(i);
  if (!t) return -1;
  require(t->constant.has_value(), "has a bias that is computed, it has to be a constant", "", "",
          "tflite.operand.constant");
  require(t->type.elements() == channels, "has a bias that does not fit its channels",
          std::to_string(t->type.elements()), std::to_string(channels), "tflite.operand.bias");
  if (!ok_) return -1;
  const Shape one{channels};
  const bool is_wide = t->type.dtype == DType::s64 && x.dtype == DType::s16;
  if ((t->type.dtype != DType::s32 && !is_wide) || x.quant.empty() || weight.quant.empty()) {
    const ValueId v = real(i);
    return reshape(v, one, "bias");
  }
  Quant quant;
  quant.axis = weight.quant.per_channel() ? 0 : -1;
  quant.low = std::numeric_limits<i32>::min(), quant.high = std::numeric_limits<i32>::max();
  for (const float scale : weight.quant.scale) {
    quant.scale.push_back(std::max(x.quant.scale[0] * scale, std::numeric_limits<float>::min()));
    quant.zero_point.push_back(0);
  }
  const ValueId steps = constant(t->name, {t->type.dtype, one, std::move(quant)}, *t->constant);
  return add(Dequantize{}, {steps}, "bias");
}

ValueId Call::bias_of_int16(size_t i, TensorType said, const Type& x, const Type& weight,
                            i64 channels) {
  const bool narrow = said == TensorType::INT32;
  require(narrow || said == TensorType::INT64 || said == TensorType::FLOAT32,
          "names a type of its bias that it cannot have", name_of_type(said),
          "INT32, INT64, or FLOAT32 for none", "tflite.operand.bias");
  if (!ok_) return -1;
  if (has(i)) {
    const DType wanted = narrow ? DType::s32 : DType::s64;
    const ModelTensor* t = tensor(i);
    if (t)
      require(t->type.dtype == wanted, "has a bias of another type than it sums in",
              std::string(name_of(t->type.dtype)), std::string(name_of(wanted)),
              "tflite.operand.bias");
    return ok_ ? bias(i, x, weight, channels) : -1;
  }
  constexpr i32 kLow = std::numeric_limits<i32>::min(), kHigh = std::numeric_limits<i32>::max();
  const float scale =
      std::max(x.quant.scale[0] * weight.quant.scale[0], std::numeric_limits<float>::min());
  const ValueId zeros =
      constant("zeros", {DType::s32, {channels}, per_tensor(scale, 0, kLow, kHigh)},
               constant_of(std::vector<i32>(static_cast<size_t>(channels))));
  return add(Dequantize{}, {zeros}, "bias");
}

ValueId Call::rounded(ValueId v, const Quant& quant, std::string_view suffix) {
  if (!ok_ || v < 0 || quant.empty()) return ok_ ? v : -1;
  return add(Dequantize{}, {to_steps(v, quant, std::string(suffix) + ".steps")}, suffix);
}

// A part of a dequantized constant, in a turn of a loop: a constant too. So what is written into
// zeros step by step stays in steps.
std::optional<ValueId> Call::real_part_of_steps(const Op& op, const std::vector<ValueId>& inputs,
                                                const Shape& to, std::string_view suffix) {
  const bool is_part =
      inputs.size() == 1 && is_movement(op) && numel(to) < type(inputs[0]).elements();
  const Node* node = is_part && !state_.running.empty() ? maker(inputs[0]) : nullptr;
  if (!node || !is_dequantize(node->op)) return std::nullopt;
  const ValueId steps = node->inputs[0];
  if (type(steps).quant.per_channel()) return std::nullopt;
  const Type result{type(steps).dtype, to, type(steps).quant};
  auto folded = fold_part(state_.graph, op, steps, result, state_.folded_elements);
  if (!folded) return std::nullopt;
  return add(Dequantize{}, {constant(fmt::format("{}.steps", suffix), result, std::move(*folded))},
             suffix);
}

}  // namespace deuteron::tflite
