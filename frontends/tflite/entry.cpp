// SPDX-License-Identifier: Apache-2.0
#include "frontends/tflite/entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace deuteron::tflite {
namespace {

constexpr size_t kNamesShown = 8;

struct Named {
  std::string name;
  i32 subgraph;
};

// Signatures, and subgraphs by their own names.
std::vector<Named> entries_of(const Model& model) {
  std::vector<Named> entries;
  const i32 subgraphs = static_cast<i32>(model.subgraphs()->size());
  if (model.signature_defs())
    for (const SignatureDef* s : *model.signature_defs())
      if (s->signature_key() && static_cast<i64>(s->subgraph_index()) < subgraphs)
        entries.push_back({s->signature_key()->str(), static_cast<i32>(s->subgraph_index())});
  for (i32 k = 0; k < subgraphs; ++k) {
    const auto* name = model.subgraphs()->Get(static_cast<flatbuffers::uoffset_t>(k))->name();
    if (name && std::ranges::none_of(entries, [&](const Named& e) {
          return e.subgraph == k || e.name == name->string_view();
        }))
      entries.push_back({name->str(), k});
  }
  return entries;
}

// Names may stand twice in a file: the second one gets its number.
std::vector<std::string> names_of_tensors(const SubGraph& graph) {
  std::vector<std::string> names;
  std::map<std::string, int> seen;
  for (const Tensor* t : *graph.tensors()) {
    std::string name = t->name() ? t->name()->str() : "";
    if (seen[name]++ > 0) name += fmt::format("#{}", names.size());
    names.push_back(std::move(name));
  }
  return names;
}

bool cut(const SubGraph& graph, const ModelPart& part, const std::string& file, Entry& entry,
         Diagnostics& diagnostics) {
  const std::vector<std::string> names = names_of_tensors(graph);
  const auto named = [&](std::span<const i32> ids) {
    std::vector<std::string> result;
    for (const i32 id : ids)
      if (id >= 0) result.push_back(names[id]);
    return result;
  };
  const auto ids_of = [&](const std::vector<std::string>& wanted) {
    std::vector<i32> ids;
    for (const std::string& name : wanted)
      ids.push_back(static_cast<i32>(std::ranges::find(names, name) - names.begin()));
    return ids;
  };
  std::vector<NamedStep> steps;
  for (const Operator* op : *graph.operators()) {
    const std::vector<std::string> made = named(ints_of(op->outputs()));
    steps.push_back(
        {made.empty() ? "" : made[0], named(ints_of(op->inputs())), made, made.empty()});
  }
  const auto cut =
      cut_model(steps, named(entry.inputs), named(entry.outputs), part, file, diagnostics);
  if (!cut) return false;
  entry.operators = cut->steps, entry.inputs = ids_of(cut->inputs),
  entry.outputs = ids_of(cut->outputs);
  return true;
}

}  // namespace

std::string names_of_entries(const Model& model) {
  std::string text;
  const std::vector<Named> entries = entries_of(model);
  for (size_t k = 0; k < std::min(entries.size(), kNamesShown); ++k)
    text += fmt::format("{}`{}`", k == 0 ? "" : ", ", entries[k].name);
  return entries.empty() ? "the file names none" : text;
}

std::optional<Entry> find_entry(const Model& model, const ModelPart& part, const std::string& file,
                                Diagnostics& diagnostics) {
  Entry entry;
  if (!part.signature.empty()) {
    const std::vector<Named> entries = entries_of(model);
    const auto found = std::ranges::find(entries, part.signature, &Named::name);
    if (found == entries.end()) {
      diagnostics.error(fmt::format("{}: --signature {}", file, part.signature),
                        "names no signature and no subgraph of the model", "tflite.signature.name",
                        fmt::format("known: {}", names_of_entries(model)));
      return std::nullopt;
    }
    entry.subgraph = found->subgraph, entry.is_chosen = true;
  }
  const SubGraph& graph =
      *model.subgraphs()->Get(static_cast<flatbuffers::uoffset_t>(entry.subgraph));
  const auto inputs = ints_of(graph.inputs()), outputs = ints_of(graph.outputs());
  entry.inputs.assign(inputs.begin(), inputs.end()),
      entry.outputs.assign(outputs.begin(), outputs.end());
  entry.operators.assign(graph.operators()->size(), true);
  if (part.is_cut() && !cut(graph, part, file, entry, diagnostics)) return std::nullopt;
  return entry;
}

}  // namespace deuteron::tflite
