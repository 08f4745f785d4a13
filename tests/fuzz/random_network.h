// SPDX-License-Identifier: Apache-2.0
// A network that the fuzzer's bytes choose: steps that are examples of operators (OpDef::examples),
// on values that are there, on new inputs and on constants. Extents are unequal, orders of axes
// both ones, values are read several times, weights are shared. What a step computes of sample data
// is finite and neither tiny nor huge, so that calibration takes the network.
#pragma once
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "compile/calibrate/samples.h"
#include "ops/families.h"
#include "tests/fuzz/decisions.h"

namespace deuteron::test {

inline constexpr size_t kSamples = 2;

inline std::vector<float> random_numbers(i64 count, uint32_t seed, float low, float high) {
  std::mt19937 random(seed);
  std::vector<float> numbers(static_cast<size_t>(count));
  for (float& x : numbers) x = low + (high - low) * static_cast<float>(random() >> 8) * 0x1p-24f;
  return numbers;
}

// In the user's axes. The same for an input of the same place and size, whatever the rest of the
// graph is.
inline Samples samples_of(const Graph& graph) {
  Samples samples(kSamples);
  for (size_t s = 0; s < kSamples; ++s)
    for (size_t i = 0; i < graph.inputs.size(); ++i)
      samples[s].push_back(random_numbers(graph.type(graph.inputs[i].value).elements(),
                                          static_cast<uint32_t>(100 * s + i + 1), -1.5f, 2));
  return samples;
}

class RandomNetwork {
 public:
  explicit RandomNetwork(Decisions& decisions) : d_(decisions) {}

  // Of at least one node.
  std::optional<Graph> grow() {
    g_.name = "random";
    for (i64 k = 1 + d_.below(2); k > 0; --k) add_input(some_shape());
    for (i64 steps = 1 + d_.below(9), tries = 4 * steps; steps > 0 && tries > 0; --tries)
      steps -= step() ? 1 : 0;
    if (g_.nodes.empty()) return std::nullopt;
    add_output(last());
    for (const ValueId v : values_)
      if (v != last() && d_.below(12) == 1) add_output(v);
    return std::move(g_);
  }

 private:
  static constexpr i64 kMostElements = 4096;
  static constexpr float kLargest = 60,
                         kLeastSpread = 0.02f;  // int8 has little to say about others

  ValueId last() const { return values_.back(); }
  ValueId some_value() {
    const auto back =
        static_cast<size_t>(d_.below(std::min<i64>(4, static_cast<i64>(values_.size()))));
    return values_[values_.size() - 1 - back];
  }
  Shape some_shape() {
    const i64 batch = 1 + d_.below(4) / 3;
    switch (d_.below(6)) {
      case 0:
        return {batch, 3 + d_.below(9)};
      case 1:
        return {batch, 3 + d_.below(6), 2 + d_.below(11)};
      default:
        return {batch, 3 + d_.below(6), 4 + d_.below(8), 1 + d_.below(12)};
    }
  }
  Axes some_order(size_t rank) {
    Axes order(rank);
    std::iota(order.begin(), order.end(), 0);
    if (rank == 4 && d_.maybe()) order = {0, 2, 3, 1};
    return order;
  }
  std::string name(char kind) { return kind + std::to_string(g_.values.size()); }

  ValueId add_input(const Shape& shape) {
    const ValueId v = g_.add_value(name('x'), {DType::f32, shape, {}});
    g_.inputs.push_back({v, g_.values[v].name, some_order(shape.size())});
    values_.push_back(v);
    const Samples samples = samples_of(g_);
    for (size_t s = 0; s < kSamples; ++s)
      data_[s].resize(g_.values.size()),
          data_[s][v] = to_storage(g_.inputs.back(), shape, samples[s].back());
    return v;
  }
  void add_output(ValueId v) {
    g_.outputs.push_back({v, g_.values[v].name, some_order(g_.type(v).shape.size())});
  }

  // Weights are small, so that sums stay in range; parameters of a channel are positive: one is a
  // variance.
  ValueId constant(const Shape& shape, const OpFacts& facts) {
    if (d_.below(5) == 0)
      for (size_t v = 0; v < g_.values.size(); ++v)
        if (g_.is_constant(static_cast<ValueId>(v)) && g_.values[v].type.shape == shape)
          return static_cast<ValueId>(v);
    const bool by_channel = facts.family == Family::by_channel;
    const float most =
        facts.family == Family::layer || facts.family == Family::product
            ? 2 / std::sqrt(static_cast<float>(std::max<i64>(
                      1, numel(shape) / std::max<i64>(1, shape.empty() ? 1 : shape[0]))))
            : 1.5f;
    const ValueId v = g_.add_value(
        name('w'), {DType::f32, shape, {}},
        constant_of(random_numbers(numel(shape), d_.byte(), by_channel ? 0.3f : -most, most)));
    for (auto& of_sample : data_) {
      const std::span<const float> numbers = g_.values[v].constant->as<float>();
      of_sample.resize(g_.values.size());
      of_sample[v].assign(numbers.begin(), numbers.end());
    }
    return v;
  }

  // The result of the operator on the samples is of use.
  bool compute(const Op& op, const std::vector<ValueId>& operands, const std::vector<Type>& types,
               std::vector<std::vector<float>> (&results)[kSamples]) {
    for (size_t s = 0; s < kSamples; ++s) {
      std::vector<HostTensor> in, out;
      for (const ValueId v : operands) in.push_back({&g_.type(v), data_[s][v].data()});
      for (const Type& t : types)
        results[s].emplace_back(static_cast<size_t>(t.elements()), std::nanf(""));
      for (size_t k = 0; k < types.size(); ++k) out.push_back({&types[k], results[s][k].data()});
      execute(op, in, out);
      float low = 0, high = 0;
      for (const float x : results[s][0]) {
        if (!(std::abs(x) < kLargest)) return false;
        low = std::min(low, x), high = std::max(high, x);
      }
      if (high - low < kLeastSpread) return false;
    }
    return true;
  }

  bool add(const Op& op, const std::vector<ValueId>& operands) {
    std::vector<const Type*> storage;
    const Result<std::vector<Type>> types = infer(op, g_.types(operands, storage));
    if (!types || types->empty()) return false;
    for (const Type& t : *types)
      if (t.dtype != DType::f32 || t.elements() < 1 || t.elements() > kMostElements ||
          t.shape.size() > 6)
        return false;
    std::vector<std::vector<float>> results[kSamples];
    if (!compute(op, operands, *types, results)) return false;
    g_.sources.push_back({name('s'), std::string(name_of(op)), "", ""});
    const ValueId first =
        g_.add_node(op, operands, *types, name('y'), {static_cast<i32>(g_.sources.size()) - 1});
    for (size_t s = 0; s < kSamples; ++s) {
      data_[s].resize(g_.values.size());
      for (size_t k = 0; k < results[s].size(); ++k)
        data_[s][first + static_cast<ValueId>(k)] = std::move(results[s][k]);
    }
    values_.push_back(first);
    return true;
  }

  // Extents of the example's first operand become those of `v`, in the others too.
  static std::optional<std::vector<Shape>> fitted(std::vector<Shape> shapes, const Shape& to) {
    const Shape from = shapes[0];
    if (from.size() != to.size()) return std::nullopt;
    for (Shape& shape : shapes)
      for (i64& extent : shape) {
        const auto at = std::find(from.rbegin(), from.rend(), extent);
        if (extent > 1 && at != from.rend()) extent = to[static_cast<size_t>(from.rend() - at) - 1];
      }
    shapes[0] = to;
    return shapes;
  }

  ValueId operand(const Shape& shape, const OpFacts& facts) {
    const bool is_weight = facts.family == Family::layer || facts.family == Family::by_channel ||
                           facts.family == Family::recurrent;
    if (!is_weight && d_.below(4) != 0)
      for (size_t k = values_.size(); k-- > 0;)
        if (g_.type(values_[k]).shape == shape && (d_.maybe() || k == 0)) return values_[k];
    return !is_weight && d_.below(3) == 0 ? add_input(shape) : constant(shape, facts);
  }

  bool step() {
    static const std::vector<AnyExample> kExamples = [] {
      std::vector<AnyExample> some = all_examples();
      std::erase_if(some, [](const AnyExample& e) {
        return is_quantize_or_dequantize(e.op) || is_lowered(e.op) || e.operands.empty();
      });
      return some;
    }();
    const AnyExample& example =
        kExamples[static_cast<size_t>(d_.below(static_cast<i64>(kExamples.size())))];
    const OpFacts facts = facts_of(example.op);
    const ValueId x = some_value();
    const std::optional<std::vector<Shape>> fit = fitted(example.operands, g_.type(x).shape);
    if (fit && try_on(example.op, *fit, x, facts)) return true;
    const i64 elements = numel(example.operands[0]);
    if (elements > kMostElements) return false;
    if (d_.below(3) == 0)
      return try_on(example.op, example.operands, add_input(example.operands[0]), facts);
    if (elements == g_.type(x).elements() && add(Reshape{example.operands[0]}, {x}))
      return try_on(example.op, example.operands, last(), facts);
    return false;
  }
  bool try_on(const Op& op, const std::vector<Shape>& shapes, ValueId x, const OpFacts& facts) {
    std::vector<ValueId> operands{x};
    for (size_t k = 1; k < shapes.size(); ++k) operands.push_back(operand(shapes[k], facts));
    return add(op, operands);
  }

  Decisions& d_;
  Graph g_;
  std::vector<ValueId> values_;                     // inputs and results
  std::vector<std::vector<float>> data_[kSamples];  // by value, in storage order
};

// That of a seed. Nothing: no step was taken.
inline std::optional<Graph> random_network(uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> bytes(4096);
  for (uint8_t& b : bytes) b = static_cast<uint8_t>(random());
  Decisions decisions(bytes.data(), bytes.size());
  return RandomNetwork(decisions).grow();
}

}  // namespace deuteron::test
