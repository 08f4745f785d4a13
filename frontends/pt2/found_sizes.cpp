// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/found_sizes.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontends/pt2/file/open_sizes.h"

namespace deuteron::pt2 {
namespace {

bool is_size(const Argument& a) {
  return a.kind == Argument::Kind::symbol || a.kind == Argument::Kind::symbols;
}

// A tensor that stands for the result of a refused node, or, after a refusal, a size without a
// number.
bool reads_refused(const ImportState& state, const ProgramNode& node, bool after_refusal) {
  const auto is_refused = [&](const std::string& name) {
    const auto it = state.meanings.find(name);
    return it != state.meanings.end() && it->second.value >= 0 && state.is_broken(it->second.value);
  };
  return std::any_of(node.arguments.begin(), node.arguments.end(), [&](const auto& argument) {
    const Argument& a = argument.second;
    if (is_size(a)) return after_refusal;
    return is_refused(a.text) || std::any_of(a.names.begin(), a.names.end(), is_refused);
  });
}

bool fits(const Shape& shape, i64 most) {
  i64 elements = 1;
  for (const i64 extent : shape) {
    if (extent > most || elements * extent > most) return false;
    elements *= extent;
  }
  return true;
}

}  // namespace

SizesOf take_found_sizes(ImportState& state, ProgramNode& node, i32 source, bool after_refusal) {
  bool is_open = !node.sizes.empty();
  for (auto& argument : node.arguments) {
    state.sizes->fix(argument.second);
    is_open = is_open || is_size(argument.second);
  }
  if (state.sizes->is_done(node)) return SizesOf::computed;
  const i64 most =
      std::min(kMaxElements, most_claimed_elements(static_cast<i64>(state.archive.bytes.size())));
  for (const std::string& name : node.outputs) {
    const auto it = state.program.tensors.find(name);
    if (it == state.program.tensors.end() || !it->second.dynamic) continue;
    const TensorMeta& meta = it->second;
    const std::string fault = state.sizes->fix(name);
    const bool is_too_large = fault.empty() && !meta.dynamic && !fits(meta.sizes, most);
    if (!fault.empty())
      state.diagnostics.error(describe_source(state.graph, source),
                              fmt::format("a size of its result has no value: {}", fault),
                              "pt2.graph.shape");
    if (is_too_large)
      state.diagnostics.add({Severity::error, describe_source(state.graph, source),
                             "its result has too many elements for a file of this size",
                             to_text(meta.sizes), std::to_string(most), "pt2.tensor.size", ""});
    if (!fault.empty() || is_too_large) return SizesOf::refused;
    is_open = is_open || meta.dynamic;
  }
  return is_open && reads_refused(state, node, after_refusal) ? SizesOf::refused : SizesOf::known;
}

}  // namespace deuteron::pt2
