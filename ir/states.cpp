// SPDX-License-Identifier: Apache-2.0
#include "ir/states.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/tensor/elements.h"
#include "ops/families.h"

namespace deuteron {

bool is_state_write(const Op& op) {
  const auto* call = call_of(op);
  return call && (call->name == kStateWrite || call->name == kStateShift);
}

Constant initial_contents(const Graph& g, size_t k) {
  const State& state = g.states[k];
  const Type& stored = g.type(g.state_inputs()[k].value);
  if (stored == state.type) return state.initial;
  return constant_of(elements_of(numbers_of(state.initial.bytes.data(), state.type), stored));
}

i64 state_bytes(const Graph& g) {
  i64 bytes = 0;
  for (const Port& port : g.state_inputs()) bytes += g.type(port.value).bytes();
  return bytes;
}

// By value: whether an output of the user's depends on it, in this call or in a later one.
static std::vector<bool> needed_values(const Graph& g) {
  std::vector<bool> needed(g.values.size());
  for (const Port& port : g.user_outputs()) needed[port.value] = true;
  for (bool grows = true; grows;) {
    for (auto node = g.nodes.rbegin(); node != g.nodes.rend(); ++node) {
      const auto is_needed = [&](ValueId v) { return needed[v]; };
      if (!std::any_of(node->outputs.begin(), node->outputs.end(), is_needed)) continue;
      for (const ValueId v : node->inputs) needed[v] = true;
    }
    grows = false;
    for (size_t k = 0; k < g.states.size(); ++k) {
      const ValueId before = g.state_inputs()[k].value, after = g.state_outputs()[k].value;
      grows |= needed[before] && !needed[after];
      if (needed[before]) needed[after] = true;
    }
  }
  return needed;
}

void drop_idle_states(Graph& g) {
  for (size_t k = g.states.size(); k-- > 0;) {
    const auto input = static_cast<std::ptrdiff_t>(g.inputs.size() - g.states.size() + k);
    const auto output = static_cast<std::ptrdiff_t>(g.outputs.size() - g.states.size() + k);
    const ValueId before = g.inputs[input].value;
    const bool never_changes = g.outputs[output].value == before;
    if (!never_changes && needed_values(g)[before]) continue;
    g.values[before].constant = g.states[k].initial;
    if (g.states[k].source >= 0)
      g.folded.push_back(
          {{g.states[k].source}, never_changes ? "never changes" : "result is not used"});
    g.inputs.erase(g.inputs.begin() + input);
    g.outputs.erase(g.outputs.begin() + output);
    g.states.erase(g.states.begin() + static_cast<std::ptrdiff_t>(k));
  }
}

static std::optional<std::string> fault_of(const Graph& g, const State& state, const Port& before,
                                           const Port& after) {
  const Type &from = g.type(before.value), &to = g.type(after.value);
  if (from != to) return fmt::format("is {}, its new value is {}", to_text(from), to_text(to));
  if (before.order != after.order)
    return fmt::format("has order {}, its new value {}", to_text(before.order),
                       to_text(after.order));
  if (before.name != after.name) return fmt::format("its new value is called `{}`", after.name);
  if (state.type.shape != from.shape)
    return fmt::format("[{}] begins as [{}]", to_text(from.shape), to_text(state.type.shape));
  if (static_cast<i64>(state.initial.bytes.size()) != state.type.bytes())
    return fmt::format("begins with {} bytes, its type has {}", state.initial.bytes.size(),
                       state.type.bytes());
  if (state.source >= static_cast<i32>(g.sources.size()))
    return fmt::format("source id {} of {}", state.source, g.sources.size());
  return {};
}

std::optional<std::string> find_state_fault(const Graph& g) {
  for (size_t k = 0; k < g.states.size(); ++k) {
    const Port& before = g.state_inputs()[k];
    if (const auto fault = fault_of(g, g.states[k], before, g.state_outputs()[k]))
      return fmt::format("state `{}`: {}", before.name, *fault);
  }
  return {};
}

}  // namespace deuteron
