// SPDX-License-Identifier: Apache-2.0
// Builds small graphs for tests: shapes are inferred, every node has an origin.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "ir/graph.h"
#include "ir/verify.h"

namespace deuteron {

inline std::vector<float> random_floats(i64 count, unsigned seed, float low = -1, float high = 1) {
  std::mt19937 random(seed);
  std::vector<float> data(static_cast<size_t>(count));
  for (float& x : data) x = low + (high - low) * static_cast<float>(random() >> 8) * 0x1p-24f;
  return data;
}

struct TestGraph {
  Graph g;

  TestGraph() { g.name = "test"; }
  ValueId input(const std::string& name, Shape shape) {
    const ValueId v = g.add_value(name, Type{DType::f32, shape, {}});
    Axes order(shape.size());
    for (size_t k = 0; k < order.size(); ++k) order[k] = static_cast<i64>(k);
    g.inputs.push_back({v, name, order});
    return v;
  }
  ValueId constant(const std::string& name, Shape shape, std::vector<float> data) {
    EXPECT_EQ(numel(shape), static_cast<i64>(data.size())) << name;
    return g.add_value(name, Type{DType::f32, std::move(shape), {}}, constant_of(std::move(data)));
  }
  ValueId node(const std::string& name, Op op, std::vector<ValueId> operands) {
    std::vector<const Type*> storage;
    auto types = infer(op, g.types(operands, storage));
    EXPECT_TRUE(types) << name << ": " << types.why.what;
    g.sources.push_back({name, std::string(name_of(op)), name, ""});
    return g.add_node(std::move(op), std::move(operands), *types, name,
                      {static_cast<i32>(g.sources.size()) - 1});
  }
  void output(ValueId v) {
    Axes order(g.type(v).shape.size());
    for (size_t k = 0; k < order.size(); ++k) order[k] = static_cast<i64>(k);
    g.outputs.push_back({v, g.values[v].name, order});
  }
};

// The one value of that name; -1 if there is none.
inline ValueId find_value(const Graph& g, const std::string& name) {
  for (size_t v = 0; v < g.values.size(); ++v)
    if (g.values[v].name == name) return static_cast<ValueId>(v);
  return -1;
}

template <class T>
size_t count_nodes(const Graph& g) {
  size_t count = 0;
  for (const Node& node : g.nodes) count += std::holds_alternative<T>(node.op);
  return count;
}

// Runs one operator on data of the given shapes.
inline std::vector<float> run_op(
    const Op& op, const std::vector<std::pair<Shape, std::vector<float>>>& operands) {
  std::vector<Type> types;
  for (const auto& [shape, data] : operands) types.push_back({DType::f32, shape, {}});
  std::vector<const Type*> pointers;
  for (const Type& t : types) pointers.push_back(&t);
  const auto result = infer(op, TypeView(pointers));
  EXPECT_TRUE(result) << result.why.what << " " << result.why.measured << " " << result.why.limit;
  if (!result) return {};
  std::vector<float> y(static_cast<size_t>((*result)[0].elements()),
                       std::nanf(""));  // every element must be written
  std::vector<HostTensor> in, out{{&(*result)[0], y.data()}};
  for (size_t k = 0; k < operands.size(); ++k)
    in.push_back({&types[k], const_cast<float*>(operands[k].second.data())});
  execute(op, in, out);
  return y;
}

}  // namespace deuteron
