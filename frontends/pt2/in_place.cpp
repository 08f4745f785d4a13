// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/in_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/view_writes.h"

namespace deuteron::pt2 {
namespace {

constexpr i64 kMostNumbers = i64{1} << 24;  // of elements: float32 holds them exactly
constexpr i64 kMostRemade = i64{1} << 20;   // views in a model

// The tensor that `name` views, the view of that, and so on to `name`.
std::vector<std::string> views_to(const ImportState& state, std::string name) {
  std::vector<std::string> chain{std::move(name)};
  while (chain.size() <= state.meanings.size()) {  // a damaged file may name one tensor twice
    const auto it = state.meanings.find(chain.back());
    if (it == state.meanings.end() || it->second.viewed.empty()) break;
    chain.push_back(it->second.viewed);
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

// What the operator of a view makes now, under the id of a source of the graph; nothing if it
// cannot.
std::optional<Meaning> made_again(ImportState& state, const Meaning& view, i32 source) {
  const ProgramNode& node = *view.made_by;
  const FoundRow found = find_import(node.target);
  if (!found.row || found.in_place) return std::nullopt;
  Call call(state, node, source, found.row->target, false);
  found.row->import(call);
  if (!call.ok() || call.outcome(view.part).value < 0) return std::nullopt;
  return call.outcome(view.part);
}

// Where the elements of the last tensor of the chain lie in the first one.
std::optional<Axes> positions_in_first(const ImportState& state,
                                       const std::vector<std::string>& chain, const Shape& shape) {
  const i64 elements = numel(shape);
  if (elements > kMostNumbers) return std::nullopt;
  std::vector<float> numbers(static_cast<size_t>(elements));
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  Graph scratch;
  scratch.sources.push_back({chain.back(), "view", "", ""});
  Diagnostics unsaid;
  ImportState probe(state.archive, state.program, scratch, unsaid);
  probe.meanings[chain[0]].value =
      probe.add_value(chain[0], {DType::f32, shape, {}}, constant_of(std::move(numbers)));
  for (size_t k = 1; k < chain.size(); ++k) {
    const auto made = made_again(probe, state.meanings.find(chain[k])->second, 0);
    if (!made) return std::nullopt;
    probe.meanings[chain[k]] = *made;
  }
  const std::vector<float> found = probe.numbers_of_known(probe.meanings[chain.back()].value);
  return Axes(found.begin(), found.end());
}

// The tensor behind the views of what the call has changed, with the changed elements; -1: they
// cannot be followed.
ValueId written_through(ImportState& state, const std::vector<std::string>& chain, Call& call) {
  const Meaning& first = state.meanings.find(chain[0])->second;
  if (!first.unavailable.empty() || first.imaginary >= 0) return -1;
  const ValueId whole = call.value_of(chain[0]), part = call.outcome().value;
  const Type& type = call.type(whole);
  if (whole < 0 || state.is_broken(whole) || state.is_broken(part) ||
      type.dtype != call.type(part).dtype || !type.quant.empty())
    return -1;
  if (!call.may_make(type.elements() * static_cast<i64>(chain.size())))
    return -1;  // as many numbers
  const auto positions = positions_in_first(state, chain, type.shape);
  if (!positions || static_cast<i64>(positions->size()) != call.type(part).elements()) return -1;
  return with_elements(call, whole, part, *positions);
}

// The placeholder of the parameter or buffer that the memory is; empty: of none.
std::string placeholder_of(const ImportState& state, i32 memory) {
  for (const ProgramInput& in : state.program.inputs)
    if (const auto it = state.meanings.find(in.name);
        it != state.meanings.end() && it->second.memory == memory)
      return in.name;
  return {};
}

}  // namespace

void change_in_place(ImportState& state, const ByName<ChangedBuffer>& buffers, Call& call) {
  const ProgramNode& node = call.node();
  const std::string* changed = changed_operand(node);
  const auto it = changed ? state.meanings.find(*changed) : state.meanings.end();
  if (it == state.meanings.end())
    return call.refuse({"changes no tensor in place", "", "", "pt2.in_place.operand"});
  const Meaning before = it->second;
  const ValueId after = call.outcome().value, imaginary = call.outcome().imaginary;
  if (after == before.value && imaginary == before.imaginary) return call.share_memory(before);
  const std::string buffer =
      before.home == Meaning::Home::state ? placeholder_of(state, before.memory) : std::string();
  if (before.home == Meaning::Home::state && !buffers.contains(buffer)) {
    state.found_states.push_back(buffer);
    return call.share_memory(before);
  }
  if (before.home == Meaning::Home::input)
    state.diagnostics.warning(
        describe_source(state.graph, static_cast<i32>(&node - state.program.nodes.data())),
        "changes the model's input in place; the program leaves its inputs unchanged",
        "pt2.in_place.input");
  const std::vector<std::string> chain = views_to(state, *changed);
  const auto first = state.meanings.find(chain[0]);
  const bool is_first = first != state.meanings.end() && first->second.value == before.value;
  const ValueId whole = first == state.meanings.end() ? -1
                        : is_first                    ? after
                                                      : written_through(state, chain, call);
  if (!call.ok()) return;
  for (auto& [name, m] : state.meanings) {
    if (m.memory != before.memory) continue;
    if (m.value == before.value && !m.is_stale)
      m.value = after, m.imaginary = imaginary, m.user_axes = -1, m.parameter = -1;
    else if (!m.unavailable.empty()) continue;
    else if (whole >= 0 && m.viewed.empty() && m.imaginary < 0)
      m.value = whole, m.user_axes = -1, m.parameter = -1;
    else if (whole >= 0 && m.imaginary < 0) m.is_stale = true;
    else
      m.unavailable =
          fmt::format("a view of memory that {} `{}` has changed in place", node.target, node.name);
  }
  call.share_memory(before);
}

// From the tensor that is up to date to the one that is asked for.
void refresh(ImportState& state, const std::string& name) {
  std::vector<std::string> stale;
  for (auto it = state.meanings.find(name);
       it != state.meanings.end() && it->second.is_stale && stale.size() < state.meanings.size();
       it = state.meanings.find(it->second.viewed))
    stale.push_back(it->first);
  state.remade_views += static_cast<i64>(stale.size());
  for (auto view = stale.rbegin(); view != stale.rend(); ++view) {
    Meaning& m = state.meanings.find(*view)->second;
    m.is_stale = false;
    const auto source = static_cast<i32>(m.made_by - state.program.nodes.data());
    const auto made =
        state.remade_views <= kMostRemade ? made_again(state, m, source) : std::nullopt;
    if (!made) {
      m.unavailable = "a view of memory that has been changed in place";
      continue;
    }
    m.value = made->value, m.user_axes = made->user_axes, m.imaginary = made->imaginary;
  }
}

void refresh_operands(ImportState& state, const ProgramNode& node) {
  for (const auto& [name, argument] : node.arguments) {
    if (argument.kind == Argument::Kind::tensor) refresh(state, argument.text);
    for (const std::string& each : argument.names) refresh(state, each);
  }
}

}  // namespace deuteron::pt2
