// SPDX-License-Identifier: Apache-2.0
#include "frontends/name_states.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/tensor/elements.h"
#include "ir/states.h"

namespace deuteron {

// The user's port of that name; -1: there is none, which is reported.
static std::ptrdiff_t find_port(const Graph& g, std::span<const Port> ports,
                                const std::string& name, const char* kind,
                                Diagnostics& diagnostics) {
  const auto it =
      std::find_if(ports.begin(), ports.end(), [&](const Port& p) { return p.name == name; });
  if (it != ports.end()) return it - ports.begin();
  std::string names;
  for (const Port& p : ports) names += fmt::format("{}`{}`", names.empty() ? "" : ", ", p.name);
  diagnostics.error(g.name, fmt::format("has no {} `{}` for --state", kind, name), "state.name",
                    fmt::format("its {}s: {}", kind, names));
  return -1;
}

static void move_to_end(std::vector<Port>& ports, std::ptrdiff_t at) {
  std::rotate(ports.begin() + at, ports.begin() + at + 1, ports.end());
}

static void name_state(Graph& g, const std::string& text, Diagnostics& diagnostics) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos)
    return diagnostics.error("--state", fmt::format("`{}` names no pair", text), "state.pair",
                             "give --state INPUT=OUTPUT");
  const std::ptrdiff_t input =
      find_port(g, g.user_inputs(), text.substr(0, equals), "input", diagnostics);
  const std::ptrdiff_t output =
      find_port(g, g.user_outputs(), text.substr(equals + 1), "output", diagnostics);
  if (input < 0 || output < 0) return;
  const Port before = g.inputs[input], after = g.outputs[output];
  const Type &from = g.type(before.value), &to = g.type(after.value);
  if (from != to || before.order != after.order)
    return diagnostics.add(
        {Severity::error, g.name,
         fmt::format("`{}` cannot be the next `{}`: they are not of one type and order of axes",
                     after.name, before.name),
         fmt::format("{}, order {}", to_text(to), to_text(after.order)),
         fmt::format("{}, order {}", to_text(from), to_text(before.order)), "state.type", ""});
  g.outputs[output].name = before.name;
  move_to_end(g.inputs, input);
  move_to_end(g.outputs, output);
  const std::vector<float> zeros(static_cast<size_t>(from.elements()));
  g.states.push_back({from, constant_of(elements_of(zeros, from)), -1});
}

void name_states(Graph& g, const std::vector<std::string>& texts, Diagnostics& diagnostics) {
  if (texts.empty()) return;
  for (const std::string& text : texts) name_state(g, text, diagnostics);
  if (diagnostics.has_errors()) return;
  if (g.user_outputs().empty())
    return diagnostics.error(g.name, "has no output that is not a state", "state.outputs",
                             "leave one output without --state");
  drop_idle_states(g);
  remove_dead(g, "result is not used");
}

}  // namespace deuteron
