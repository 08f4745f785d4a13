// SPDX-License-Identifier: Apache-2.0
#include "compile/precision/state_steps.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/tensor/elements.h"
#include "compile/quantize/quantization_clusters.h"
#include "ir/rewrite/borders.h"
#include "ops/families.h"

namespace deuteron {
namespace {

// One set of steps that a quantize makes, or that there is none for all.
struct OneType {
  std::optional<Type> found;  // its shape means nothing
  bool is_one = true;

  void add(const Type& type) {
    if (!found) found = type;
    is_one &= (type.dtype == DType::s8 || type.dtype == DType::s16) && !type.quant.per_channel() &&
              type.dtype == found->dtype && type.quant == found->quant;
  }
  const Type* get() const { return is_one && found ? &*found : nullptr; }
};

class StateSteps {
 public:
  StateSteps(const Graph& graph, size_t state)
      : g_(graph),
        uses_(graph),
        before_(graph.state_inputs()[state].value),
        after_(graph.state_outputs()[state].value),
        state_(graph.states[state]) {}

  // What the state may be kept as; nothing where it is so already.
  std::optional<Type> find() const {
    if (g_.type(before_).dtype != DType::f32) return std::nullopt;
    OneType written = this->written(), read = this->read();
    if (is_at_both_ends(read)) return std::nullopt;
    if (const Type* type = written.get(); type && begins_with(*type)) return *type;
    if (const Type* type = read.get()) return *type;
    return std::nullopt;
  }

 private:
  bool is_float(ValueId v) const { return g_.type(v).dtype == DType::f32; }

  bool is_at_both_ends(const OneType& read) const {
    const ValueId steps = dequantized(g_, uses_, after_);
    const auto& readers = uses_.readers[before_];
    return steps >= 0 && read.get() && read.get()->quant == g_.type(steps).quant &&
           std::ranges::all_of(readers, [&](NodeId n) { return is_quantize(g_.nodes[n].op); });
  }

  // Where the new contents come from, through what only moves numbers: padding brings its own.
  OneType written() const {
    OneType type;
    std::set<ValueId> seen;
    std::vector<ValueId> todo{after_};
    while (!todo.empty()) {
      const ValueId v = todo.back();
      todo.pop_back();
      if (v == before_ || !seen.insert(v).second) continue;
      const NodeId n = uses_.producer[v];
      if (n >= 0 && is_dequantize(g_.nodes[n].op)) {
        type.add(g_.type(g_.nodes[n].inputs[0]));
        continue;
      }
      if (n < 0 || !passes_numbers_on(g_.nodes[n].op) ||
          facts_of(g_.nodes[n].op).values == Values::padded)
        return {std::nullopt, false};
      for (const ValueId from : g_.nodes[n].inputs)
        if (is_float(from)) todo.push_back(from);
    }
    return type;
  }

  // Where the old contents go, likewise.
  OneType read() const {
    OneType type;
    std::set<ValueId> seen;
    std::vector<ValueId> todo{before_};
    while (!todo.empty()) {
      const ValueId v = todo.back();
      todo.pop_back();
      if (!seen.insert(v).second) continue;
      if (uses_.output_uses[v] > (v == after_ ? 1 : 0)) return {std::nullopt, false};
      for (const NodeId n : uses_.readers[v]) {
        const Node& node = g_.nodes[n];
        if (is_quantize(node.op)) type.add(g_.type(node.outputs[0]));
        else if (!passes_numbers_on(node.op)) return {std::nullopt, false};
        else todo.insert(todo.end(), node.outputs.begin(), node.outputs.end());
      }
    }
    return type;
  }

  // Whether what the first call reads are such steps.
  bool begins_with(const Type& type) const {
    const auto numbers = numbers_of(state_.initial.bytes.data(), state_.type);
    const Quant& q = type.quant;
    return std::ranges::all_of(numbers, [&](float number) {
      const i32 step = quantize_value(number, q.scale[0], q.zero_point[0], q.low, q.high);
      return static_cast<float>(step - q.zero_point[0]) * q.scale[0] == number;
    });
  }

  const Graph& g_;
  Uses uses_;
  ValueId before_, after_;
  const State& state_;
};

void give_steps(Graph& g, size_t state, const Type& steps) {
  const Uses uses(g);
  const ValueId before = g.state_inputs()[state].value;
  Port& after = g.outputs[g.user_outputs().size() + state];
  const auto& readers = uses.readers[before];
  const NodeId writer = uses.producer[after.value];
  const Origin origin = g.states[state].source >= 0 ? Origin{g.states[state].source}
                        : writer >= 0               ? g.nodes[writer].origin
                        : !readers.empty()          ? g.nodes[readers[0]].origin
                                                    : Origin{};
  const auto first = steps_and_back(g, before, steps.dtype, steps.quant, origin);
  for (const NodeId n : readers)
    std::ranges::replace(g.nodes[n].inputs, before, first[1].outputs[0]);
  const ValueId made = after.value == before ? first[1].outputs[0] : after.value;
  const auto last = steps_and_back(g, made, steps.dtype, steps.quant, origin);
  after.value = last[1].outputs[0];
  g.nodes.insert(g.nodes.begin(), first.begin(), first.end());
  g.nodes.insert(g.nodes.end(), last.begin(), last.end());
}

}  // namespace

void give_states_steps(Graph& g) {
  for (size_t k = 0; k < g.states.size(); ++k)
    if (const std::optional<Type> steps = StateSteps(g, k).find()) give_steps(g, k, *steps);
}

}  // namespace deuteron
