// SPDX-License-Identifier: Apache-2.0
#include "frontends/tflite/call/fold.h"

#include <cstring>
#include <numeric>

#include "ops/families.h"
#include "ops/kernel_call/host_call.h"

namespace deuteron::tflite {
namespace {

constexpr i64 kMostFolded = 1 << 20;      // elements, so that float32 counts them
constexpr i64 kMostInAll = i64{1} << 25;  // of a model

// A movement of any elements is that of their numbers in order. Number 0 is what padding writes: no
// builtin pads integers with another.
Constant moved(const Graph& graph, const Op& op, const std::vector<ValueId>& inputs,
               const Type& result) {
  const size_t width = static_cast<size_t>(bytes_of(result.dtype));
  std::vector<std::byte> elements(width);
  std::vector<Type> types;
  std::vector<std::vector<float>> numbers;
  for (const ValueId v : inputs) {
    types.push_back({DType::f32, graph.type(v).shape, {}});
    numbers.emplace_back(static_cast<size_t>(types.back().elements()));
    std::iota(numbers.back().begin(), numbers.back().end(),
              static_cast<float>(elements.size() / width));
    const std::span<const std::byte> bytes = graph.values[v].constant->bytes;
    elements.insert(elements.end(), bytes.begin(), bytes.end());
  }
  std::vector<HostTensor> in;
  for (size_t k = 0; k < inputs.size(); ++k) in.push_back({&types[k], numbers[k].data()});
  const Type of_numbers{DType::f32, result.shape, {}};
  std::vector<float> order(static_cast<size_t>(result.elements()));
  const HostTensor out{&of_numbers, order.data()};
  execute(op, in, {&out, 1});
  std::vector<std::byte> y(order.size() * width);
  for (size_t k = 0; k < order.size(); ++k)
    std::memcpy(&y[k * width], &elements[static_cast<size_t>(order[k]) * width], width);
  return constant_of(std::move(y));
}

Constant called(const Graph& graph, const auto& call, const std::vector<ValueId>& inputs,
                const Type& result) {
  std::vector<const Type*> in, out{&result};
  std::vector<std::vector<std::byte>> copies;
  std::vector<void*> in_data;
  for (const ValueId v : inputs) {
    const std::span<const std::byte> bytes = graph.values[v].constant->bytes;
    copies.emplace_back(bytes.begin(), bytes.end());
    in_data.push_back(copies.back().data());
  }
  std::vector<std::byte> y(static_cast<size_t>(result.bytes()));
  void* const out_data[] = {y.data()};
  run_call(call, graph.types(inputs, in), TypeView(out), in_data, out_data,
           std::vector<bool>(inputs.size(), true));
  return constant_of(std::move(y));
}

}  // namespace

std::optional<Constant> fold(const Graph& graph, const Op& op, const std::vector<ValueId>& inputs,
                             const Type& result, i64& total) {
  i64 elements = result.elements();
  bool all_float = result.dtype == DType::f32;
  for (const ValueId v : inputs) {
    const Type& type = graph.type(v);
    if (!graph.is_constant(v) || !type.quant.empty()) return std::nullopt;
    elements += type.elements();
    all_float = all_float && type.dtype == DType::f32;
  }
  if (all_float || inputs.empty() || elements > kMostFolded || total + elements > kMostInAll)
    return std::nullopt;
  total += elements;
  if (const auto* call = call_of(op)) return called(graph, *call, inputs, result);
  return is_movement(op) ? std::optional(moved(graph, op, inputs, result)) : std::nullopt;
}

std::optional<Constant> fold_part(const Graph& graph, const Op& op, ValueId steps,
                                  const Type& result, i64& total) {
  const i64 elements = result.elements() + graph.type(steps).elements();
  if (!graph.is_constant(steps) || elements > kMostFolded || total + elements > kMostInAll)
    return std::nullopt;
  total += elements;
  return moved(graph, op, {steps}, result);
}

}  // namespace deuteron::tflite
