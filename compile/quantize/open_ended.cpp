// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/open_ended.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "ops/families.h"

namespace deuteron {

namespace {

// The one that is no constant, be it read twice; -1: there is none, or several.
ValueId computed_operand(const Graph& g, const Node& node) {
  ValueId found = -1;
  for (const ValueId v : node.inputs) {
    if (g.is_constant(v) || v == found) continue;
    if (found >= 0) return -1;
    found = v;
  }
  return found;
}

// Even, and larger the further from 0: a square, a magnitude, a product with itself.
bool measures_size(const Graph& g, const Node& node) {
  if (computed_operand(g, node) < 0) return false;
  float last = value_at(g, node, 0);
  for (const float x : {0.25f, 1.0f, 4.0f, 16.0f}) {
    const float y = value_at(g, node, x);
    if (!(y > last) || y != value_at(g, node, -x)) return false;
    last = y;
  }
  return true;
}

bool is_difference(const Graph& g, const Node& node) {
  return is_binary(node.op) && value_at(g, node, 4) == 0 && value_at(g, node, 1) == 0;
}

// No end above: a root, a factor, an offset, a logarithm.
bool keeps_growing(const Graph& g, const Node& node) {
  if (facts_of(node.op).values == Values::same) return true;
  const float y = value_at(g, node, 4);
  return value_at(g, node, 16) > y && y > value_at(g, node, 1);
}

bool adds_up(const Node& node) {
  const std::string_view function = function_of(node.op);
  return facts_of(node.op).family == Family::slices &&
         (function == "mean" || function == "sum" || function == "max");
}

class Scores {
 public:
  explicit Scores(const Graph& g)
      : g_(g), uses_(g), score_(g.nodes.size()), open_(g.values.size()), tail_(g.nodes.size()) {}

  std::vector<bool> find() {
    for (const Port& port : g_.user_outputs())
      open_[port.value] = g_.type(port.value).dtype == DType::f32;
    for (size_t n = g_.nodes.size(); n-- > 0;) {
      const Node& node = g_.nodes[n];
      if (node.outputs.size() != 1 || !is_open(node.outputs[0])) continue;
      const ValueId operand = computed_operand(g_, node);
      if (operand >= 0 && adds_up(node)) take_sum(n, operand);
      else if (operand >= 0 && keeps_growing(g_, node)) tail_[n] = open_[operand] = true;
    }
    follow_scores();
    return std::move(score_);
  }

 private:
  // Everybody who reads it is on the way to an output.
  bool is_open(ValueId v) const {
    if (!open_[v]) return false;
    return std::ranges::all_of(uses_.readers[v], [&](NodeId n) { return tail_[n]; });
  }

  void take_sum(size_t n, ValueId squares) {
    const NodeId square = uses_.producer[squares];
    const bool is_read_elsewhere =
        uses_.readers[squares].size() != 1 || uses_.output_uses[squares] > 0;
    if (square < 0 || is_read_elsewhere || !measures_size(g_, g_.nodes[square])) return;
    score_[n] = score_[square] = true;
    const ValueId squared = computed_operand(g_, g_.nodes[square]);
    const NodeId difference = uses_.producer[squared];
    const auto is_square = [&](NodeId reader) { return reader == square; };
    if (difference >= 0 && is_difference(g_, g_.nodes[difference]) &&
        uses_.output_uses[squared] == 0 && std::ranges::all_of(uses_.readers[squared], is_square))
      score_[difference] = true;
  }

  // What lies between a sum and an output. The way of another output only looks like that.
  void follow_scores() {
    for (size_t n = 0; n < tail_.size(); ++n) {
      if (!tail_[n]) continue;
      const NodeId before = uses_.producer[computed_operand(g_, g_.nodes[n])];
      score_[n] = score_[n] || (before >= 0 && score_[before]);
    }
  }

  const Graph& g_;
  const Uses uses_;
  std::vector<bool> score_;
  std::vector<bool> open_;  // by value: an output, or what becomes one
  std::vector<bool> tail_;  // by node: from a sum to an output
};

}  // namespace

float value_at(const Graph& g, const Node& node, float x) {
  const Type number{DType::f32, {1}, {}};
  std::vector<float> numbers;
  for (const ValueId v : node.inputs) {
    if (g.type(v).dtype != DType::f32 || g.type(v).elements() == 0) return std::nanf("");
    numbers.push_back(g.is_constant(v) ? g.values[v].constant->as<float>()[0] : x);
  }
  if (!is_binary(node.op) && !is_elementwise(node.op)) return std::nanf("");
  std::vector<HostTensor> in;
  for (float& n : numbers) in.push_back({&number, &n});
  float y = 0;
  const HostTensor out{&number, &y};
  execute(node.op, in, std::span(&out, 1));
  return y;
}

std::vector<bool> open_ended_scores(const Graph& graph) { return Scores(graph).find(); }

}  // namespace deuteron
