// SPDX-License-Identifier: Apache-2.0
// What an operator becomes: new values of the graph, and its results.
#include "frontends/tflite/call/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/tensor/axes.h"
#include "base/tensor/elements.h"
#include "frontends/tflite/call/fold.h"
#include "ops/families.h"
#include "ops/kernel_call/host_call.h"

namespace deuteron::tflite {

static std::string suffixed(const ImportState& state, std::span<const i32> out,
                            std::string_view suffix) {
  const std::string name = out.empty() ? "value" : state.tensors[out[0]].name;
  return suffix.empty() ? name : name + "." + std::string(suffix);
}

ValueId Call::constant(std::string_view suffix, Type type, Constant data) {
  return ok_ ? state_.graph.add_value(suffixed(state_, out_, suffix), std::move(type),
                                      std::move(data))
             : -1;
}

// What is made of constants alone is computed by us.
void Call::count_made(const std::vector<ValueId>& inputs, i64 elements) {
  if (std::all_of(inputs.begin(), inputs.end(),
                  [&](ValueId v) { return state_.graph.is_constant(v); }))
    state_.made_elements += elements;
  require(state_.made_elements <= kMostMadeElements, "makes constants of too many elements",
          std::to_string(state_.made_elements), std::to_string(kMostMadeElements),
          "tflite.constant.total");
}

std::vector<ValueId> Call::add_all(Op op, std::vector<ValueId> inputs, std::string_view suffix) {
  for (const ValueId v : inputs)
    if (v < 0) ok_ = false;
  if (!ok_) return {};
  std::vector<const Type*> types;
  auto inferred = infer(op, state_.graph.types(inputs, types));
  if (!inferred) {
    inferred.why.rule = "tflite." + inferred.why.rule;
    refuse(inferred.why);
    return {};
  }
  for (Type& result : *inferred.value) {
    i64 elements = 1;
    for (const i64 extent : result.shape) {
      const bool fits =
          extent >= 1 && extent <= kMostElements && elements * extent <= kMostElements;
      require(fits, "makes a tensor without elements, or of too many", to_text(result.shape),
              fmt::format("1..{}", kMostElements), "tflite.result.elements");
      if (!ok_) return {};
      elements *= extent;
    }
    count_made(inputs, elements);
    if (!ok_) return {};
  }
  if (inferred.value->size() == 1)
    if (auto folded =
            fold(state_.graph, op, inputs, inferred.value->front(), state_.folded_elements))
      return {constant(suffix, inferred.value->front(), std::move(*folded))};
  if (const auto part = inferred.value->size() == 1
                            ? real_part_of_steps(op, inputs, inferred.value->front().shape, suffix)
                            : std::nullopt)
    return {*part};
  state_.graph.add_node(std::move(op), std::move(inputs), *inferred.value,
                        suffixed(state_, out_, suffix), {index_});
  return state_.graph.nodes.back().outputs;
}

ValueId Call::add(Op op, std::vector<ValueId> inputs, std::string_view suffix) {
  const std::vector<ValueId> results = add_all(std::move(op), std::move(inputs), suffix);
  return results.empty() ? -1 : results[0];
}

const Node* Call::maker(ValueId v) const {
  const std::vector<Node>& nodes = state_.graph.nodes;
  // Values are numbered as they are made.
  const auto node = std::partition_point(nodes.begin(), nodes.end(),
                                         [v](const Node& n) { return n.outputs.back() < v; });
  return node == nodes.end() || node->outputs[0] > v ? nullptr : &*node;
}

ValueId Call::add_for(Op op, std::vector<ValueId> inputs, std::vector<ValueId> replaced,
                      std::string_view suffix) {
  const ValueId v = add(std::move(op), std::move(inputs), suffix);
  for (const ValueId other : replaced)
    if (const Node* node = ok_ ? maker(other) : nullptr)
      state_.graph.nodes.back().origin = merge(state_.graph.nodes.back().origin, node->origin);
  return v;
}

ValueId Call::add_call(KernelCall call, std::vector<ValueId> inputs, Type result,
                       std::string_view suffix) {
  const std::vector<ValueId> results =
      add_calls(std::move(call), std::move(inputs), {std::move(result)}, suffix);
  return results.empty() ? -1 : results[0];
}

std::vector<ValueId> Call::add_calls(KernelCall call, std::vector<ValueId> inputs,
                                     std::vector<Type> types, std::string_view suffix) {
  for (const ValueId v : inputs)
    if (v < 0) ok_ = false;
  if (!ok_) return {};
  std::vector<const Type*> in, out;
  for (const Type& type : types) out.push_back(&type);
  if (const auto fault = fault_of_call(call, state_.graph.types(inputs, in), TypeView(out)))
    refuse({fmt::format("has no int8 form, and the portable kernel {}.{} does not take it: {}",
                        call.name, call.overload, *fault),
            "", "", "tflite.leftover.call"});
  for (const Type& type : types)
    if (ok_) count_made(inputs, type.elements());
  if (!ok_) return {};
  if (types.size() == 1)
    if (auto folded = fold(state_.graph, call, inputs, types[0], state_.folded_elements))
      return {constant(suffix, std::move(types[0]), std::move(*folded))};
  state_.graph.add_node(std::move(call), std::move(inputs), std::move(types),
                        suffixed(state_, out_, suffix), {index_});
  return state_.graph.nodes.back().outputs;
}

ValueId Call::permute(ValueId x, Axes perm, std::string_view suffix) {
  if (!ok_ || x < 0 || is_identity(perm)) return ok_ ? x : -1;
  return add(Permute{std::move(perm)}, {x}, suffix);
}

ValueId Call::reshape(ValueId x, Shape to, std::string_view suffix) {
  if (!ok_ || x < 0) return -1;
  return to == shape(x) ? x : add(Reshape{std::move(to)}, {x}, suffix);
}

// The constant that v is dequantized from: weights of fewer bits.
const GraphValue* Call::steps_behind(ValueId v) const {
  const Node* node = maker(v);
  const bool is_constant =
      node && is_dequantize(node->op) && state_.graph.is_constant(node->inputs[0]);
  return is_constant ? &state_.graph.values[node->inputs[0]] : nullptr;
}

void Call::result(size_t i, ValueId v) {
  if (!ok_ || v < 0) {
    ok_ = false;
    return;
  }
  require(i < out_.size(), "has fewer results in the model", std::to_string(out_.size()),
          std::to_string(i + 1), "tflite.operator.results");
  if (!ok_) return;
  ModelTensor& t = state_.tensors[out_[i]];
  for (size_t k = 0; t.type.shape.size() == shape(v).size() && k < t.open.size(); ++k)
    if (t.open[k]) t.type.shape[k] = shape(v)[k];
  require(type(v).shape == t.type.shape,
          "has a result of another shape than the file says: it is damaged", to_text(type(v).shape),
          to_text(t.type.shape), "tflite.result.shape");
  if (t.unsupported)
    refuse({fmt::format("tensor `{}` {}", t.name, t.unsupported->what), t.unsupported->measured,
            t.unsupported->limit, t.unsupported->rule});
  require(!t.is_complex, "makes complex numbers", "COMPLEX64", "FLOAT32", "tflite.tensor.complex");
  require(!t.type.quant.per_channel(), "has a result with several scales",
          std::to_string(t.type.quant.scale.size()), "1", "tflite.quant.channels");
  fit_int16(t);
  const DType own = type(v).dtype;
  const bool steps = !t.type.quant.empty() && own == DType::f32;
  // the kernels count in int64
  const bool position = own == DType::s64 && t.type.dtype == DType::s32;
  require(steps || own == t.type.dtype || position, "has a result of another type than it computes",
          std::string(name_of(t.type.dtype)), std::string(name_of(own)), "tflite.result.type");
  if (!ok_) return;
  t.state = ModelTensor::State::there;
  t.value = steps ? to_steps(v, t.type.quant, i == 0 ? "steps" : fmt::format("steps{}", i)) : v;
  if (steps) state_.graph.values[t.value].name = t.name;
  else if (state_.graph.is_constant(v))
    t.constant = state_.graph.values[v].constant, t.type.dtype = own;
  else if (const GraphValue* weights = steps_behind(v))
    t.constant = constant_of(numbers_of(weights->constant->bytes.data(), weights->type));
}

void Call::complex_result(Complex z) {
  if (!ok_ || out_.empty()) return result(0, z.real);
  ModelTensor& t = state_.tensors[out_[0]];
  require(std::exchange(t.is_complex, false), "has a result of another type than it computes",
          to_text(t.type), "COMPLEX64", "tflite.result.type");
  result(0, z.real);
  t.is_complex = true, t.imaginary = z.imaginary;
}

void Call::leave_empty(size_t i) {
  if (ok_ && i < out_.size()) state_.tensors[out_[i]].state = ModelTensor::State::empty;
}

}  // namespace deuteron::tflite
