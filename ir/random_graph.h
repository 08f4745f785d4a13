// SPDX-License-Identifier: Apache-2.0
// Graphs for tests, grown from a seed: chains and joins of most operators over small odd shapes,
// with quantize pairs, odd names and merged origins.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "ir/graph.h"
#include "ir/text_constant.h"

namespace deuteron {

class RandomGraph {
 public:
  explicit RandomGraph(uint64_t seed) : random_(seed) {}

  Graph grow(int nodes) {
    g_.name = "random.pt2";
    const ValueId x = g_.add_value(
        fresh_name(), {DType::f32, {pick(1, 3), pick(5, 9), pick(5, 9), pick(1, 5)}, {}});
    g_.inputs.push_back({x, "in put", {0, 2, 3, 1}});
    values_.push_back(x);
    for (int attempts = 0; static_cast<int>(g_.nodes.size()) < nodes && attempts < nodes * 20;
         ++attempts)
      step();
    g_.outputs.push_back(port(values_.back(), "out"));
    g_.outputs.push_back(port(any_value(), "second"));
    return std::move(g_);
  }

 private:
  i64 pick(i64 low, i64 high) { return std::uniform_int_distribution<i64>(low, high)(random_); }
  float real(float low, float high) {
    return std::uniform_real_distribution<float>(low, high)(random_);
  }
  ValueId any_value() {
    return values_[values_.size() - 1 -
                   static_cast<size_t>(
                       pick(0, std::min<i64>(3, static_cast<i64>(values_.size()) - 1)))];
  }
  Bounds bounds() { return pick(0, 1) ? Bounds{} : Bounds{real(-1, 0), real(0, 2)}; }

  std::string fresh_name() {
    static const char* const kNames[] = {
        "x",   "c0.weight",     "",      "input", "a b", "ünïcode \"q\"\\", "7",
        "x.2", "tab\there\x01", "relu_1"};
    return kNames[pick(0, 9)];
  }

  Port port(ValueId v, std::string name) {
    Axes order(g_.type(v).shape.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random_);
    return {v, std::move(name), std::move(order)};
  }

  ValueId constant(Shape shape) {
    const Type type{DType::f32, std::move(shape), {}};
    return g_.add_value(fresh_name(), type, random_constant(type, random_()));
  }

  Origin origin() {
    const auto id = static_cast<i32>(g_.sources.size());
    g_.sources.push_back({fmt::format("op_{}", id), "aten.some.default",
                          pick(0, 1) ? fmt::format("m.{}", id) : "",
                          pick(0, 3) ? "" : "a.py\nline 2"});
    return id > 0 && pick(0, 3) == 0 ? Origin{static_cast<i32>(pick(0, id - 1)), id} : Origin{id};
  }

  // Adds the node if the operator takes these operands.
  void add(Op op, std::vector<ValueId> inputs, Quant quant = {}) {
    std::vector<const Type*> storage;
    Result<std::vector<Type>> types = infer(op, g_.types(inputs, storage));
    if (!types || types->at(0).elements() > 20000) return;
    types.value->at(0).quant = std::move(quant);
    values_.push_back(g_.add_node(std::move(op), std::move(inputs), std::move(*types.value),
                                  fresh_name(), origin()));
  }

  void step() {
    const ValueId x = any_value();
    const Shape shape = g_.type(x).shape;
    const i64 rank = static_cast<i64>(shape.size()), last = shape.back();
    switch (pick(0, 12)) {
      case 0:
        return add(Clamp{bounds()}, {x});
      case 1:
        return add(Unary{static_cast<UnaryFn>(pick(0, 4)), real(0, 1)}, {x});
      case 2:
        return add(Add{bounds()}, {x, pick(0, 1) ? constant({last}) : any_value()});
      case 3:
        return add(Mul{}, {x, pick(0, 1) ? constant({last}) : any_value()});
      case 4: {
        if (rank != 4) return;
        const i64 oc = pick(1, 6);
        Conv2d conv{{pick(1, 2), pick(1, 2)},
                    {pick(0, 2), pick(0, 1)},
                    {pick(0, 1), pick(0, 2)},
                    {1, pick(1, 2)},
                    1,
                    bounds()};
        std::vector<ValueId> inputs{x, constant({oc, pick(1, 3), pick(1, 3), last})};
        if (pick(0, 1)) inputs.push_back(constant({oc}));
        return add(conv, std::move(inputs));
      }
      case 5:
        return rank == 4
                   ? add(
                         MaxPool2d{
                             {2, 3}, {pick(1, 2), 1}, {1, 1}, {1, 1}, pick(0, 1) == 1, bounds()},
                         {x})
                   : void();
      case 6:
        return rank == 4 ? add(AvgPool2d{{3, 2},
                                         {1, 2},
                                         {1, 0},
                                         pick(0, 1) == 1,
                                         pick(0, 1) == 1,
                                         pick(0, 1) * 5},
                               {x})
                         : void();
      case 7: {
        Axes perm(shape.size());
        std::iota(perm.begin(), perm.end(), 0);
        std::shuffle(perm.begin(), perm.end(), random_);
        return add(Permute{perm}, {x});
      }
      case 8:
        return add(Reshape{rank == 4 ? Shape{shape[0], shape[1] * shape[2], last}
                                     : Shape{shape[0], numel(shape) / std::max<i64>(shape[0], 1)}},
                   {x});
      case 9: {
        Axes before(shape.size(), 0), after(shape.size(), 0);
        if (rank == 4) before = {0, 1, 2, 0}, after = {0, 2, 0, 0};
        return add(Pad{before, after, static_cast<float>(pick(0, 1))}, {x});
      }
      case 10:
        return add(Linear{bounds()}, {x, constant({pick(1, 7), last})});
      case 11:
        return add(Softmax{pick(0, rank - 1)}, {x});
      default: {
        const Quant quant = per_tensor(real(0.001f, 0.1f), static_cast<i32>(pick(-128, 127)),
                                       pick(0, 1) ? -128 : -127);
        const size_t before = values_.size();
        add(Quantize{quant}, {x}, quant);
        if (values_.size() == before) return;
        const ValueId q = values_.back();
        values_.pop_back();
        return add(Dequantize{}, {q});
      }
    }
  }

  std::mt19937_64 random_;
  Graph g_;
  std::vector<ValueId> values_;
};

}  // namespace deuteron
