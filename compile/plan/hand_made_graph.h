// SPDX-License-Identifier: Apache-2.0
// For tests only: lowered graphs written by hand, a line for each call.
#pragma once
#include <numeric>

#include "ir/graph.h"

namespace deuteron {

inline Axes counting(size_t rank) {
  Axes order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

struct HandMadeGraph {
  Graph graph;

  ValueId input(const std::string& name, DType dtype, Shape shape, std::optional<Axes> order = {}) {
    const size_t rank = shape.size();
    const ValueId v = graph.add_value(name, {dtype, std::move(shape), {}});
    graph.inputs.push_back({v, name, order.value_or(counting(rank))});
    return v;
  }
  void output(ValueId v, std::optional<Axes> order = {}) {
    graph.outputs.push_back(
        {v, graph.values[v].name, order.value_or(counting(graph.type(v).shape.size()))});
  }
  template <class T>
  ValueId constant(const std::string& name, DType dtype, Shape shape, std::vector<T> data) {
    return graph.add_value(name, {dtype, std::move(shape), {}}, constant_of(std::move(data)));
  }
  i32 source(const std::string& name) {
    graph.sources.push_back({name, "aten." + name + ".default", "body." + name, ""});
    return static_cast<i32>(graph.sources.size()) - 1;
  }
  // A call that reads `in` and makes `types`; all tensors with their plain faces, outs last.
  // Scratch: one more type that nobody reads.
  ValueId call(const std::string& name, const std::vector<ValueId>& in, std::vector<Type> types,
               std::vector<std::pair<i64, i64>> in_place = {}) {
    KernelCall k;
    k.name = "cortex_m::" + name;
    k.overload = "out";
    for (size_t i = 0; i < in.size(); ++i)
      k.args.push_back({KernelArg::Kind::input,
                        static_cast<i64>(i),
                        0,
                        {},
                        plain_face(graph.type(in[i]).shape)});
    for (size_t i = types.size(); i-- > 0;)
      k.args.push_back(
          {KernelArg::Kind::output, static_cast<i64>(i), 0, {}, plain_face(types[i].shape)});
    k.in_place = std::move(in_place);
    return call(std::move(k), in, std::move(types));
  }
  ValueId call(KernelCall k, const std::vector<ValueId>& in, std::vector<Type> types) {
    const std::string name = k.name.substr(k.name.find("::") + 2);
    const Origin origin = {source(name)};
    return graph.add_node(std::move(k), in, std::move(types), name, origin);
  }
  ValueId reshape(ValueId v, Shape shape) {
    Type type = graph.type(v);
    type.shape = shape;
    return graph.add_node(Reshape{std::move(shape)}, {v}, {std::move(type)}, "view",
                          {source("view")});
  }
  ValueId slice(ValueId v, i64 start, i64 count) {
    const Type type{graph.type(v).dtype, {count}, {}};
    return graph.add_node(Slice{0, start, count, 1}, {v}, {type}, "slice", {source("slice")});
  }
  // Of the elements of all parts, as one row of bytes.
  ValueId concat(const std::vector<ValueId>& parts) {
    i64 bytes = 0;
    for (const ValueId v : parts) bytes += graph.type(v).bytes();
    return graph.add_node(Concat{0}, parts, {{DType::s8, {bytes}, {}}}, "cat", {source("cat")});
  }
  KernelCall as_call(const std::string& name, const Node& node) {
    KernelCall k;
    k.name = "aten::" + name;
    k.overload = "out";
    for (size_t i = 0; i < node.inputs.size(); ++i)
      k.args.push_back({KernelArg::Kind::input,
                        static_cast<i64>(i),
                        0,
                        {},
                        plain_face(graph.type(node.inputs[i]).shape)});
    k.args.push_back(
        {KernelArg::Kind::output, 0, 0, {}, plain_face(graph.type(node.outputs[0]).shape)});
    return k;
  }
};

inline Type s8(Shape shape) { return {DType::s8, std::move(shape), {}}; }
inline Type f32(Shape shape) { return {DType::f32, std::move(shape), {}}; }

}  // namespace deuteron
