// SPDX-License-Identifier: Apache-2.0
// Entries and keys: the published form of the file, as the stock package 1.5 writes it. Stock
// records may be compressed.
#include "explain/traces/read_etrecord.h"

#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <span>

#include "base/files/open_zip.h"
#include "base/files/read_file.h"

namespace deuteron {
namespace {

using SortedJson = nlohmann::json;

constexpr zip_uint64_t kMaxEntryBytes = 512u
                                        << 20;  // of text; a compressed entry may claim anything

constexpr const char* kMark = "ETRECORD_V0";

class RecordReader {
 public:
  RecordReader(std::span<const std::byte> bytes, const std::string& path, Diagnostics& diagnostics)
      : bytes_(bytes), path_(path), diagnostics_(diagnostics) {}

  std::optional<SourceMap> read() {
    std::string why;
    zip_ = open_zip(bytes_, ZIP_CHECKCONS, why);
    if (!zip_)
      return refuse("is not an ETRecord: it cannot be opened as a zip file (" + why + ")",
                    "etrecord.zip");
    if (zip_name_locate(zip_.get(), kMark, 0) < 0)
      return refuse("is a zip file but no ETRecord: the entry ETRECORD_V0 is missing",
                    "etrecord.magic");
    const std::optional<SortedJson> delegates = json_entry("delegate_map", false);
    if (failed_) return std::nullopt;
    if (delegates && delegates->is_object() && delegates->contains("deuteron"))
      return read_source_map((*delegates)["deuteron"], path_, diagnostics_);
    return read_stock(delegates);
  }

 private:
  std::optional<SourceMap> refuse(const std::string& what, const char* rule) {
    diagnostics_.error(path_, what, rule,
                       "write the record again: deuteron compile --etrecord FILE");
    failed_ = true;
    return std::nullopt;
  }

  std::optional<std::string> entry(const std::string& name) {
    zip_stat_t stat;
    if (zip_stat(zip_.get(), name.c_str(), 0, &stat) != 0 || !(stat.valid & ZIP_STAT_SIZE))
      return std::nullopt;
    if (stat.size > kMaxEntryBytes) {
      refuse(fmt::format("the entry `{}` is larger than {} bytes", name, kMaxEntryBytes),
             "etrecord.size");
      return std::nullopt;
    }
    zip_file_t* file = zip_fopen(zip_.get(), name.c_str(), 0);
    if (!file) {
      refuse(fmt::format("the entry `{}` cannot be read: {}", name,
                         zip_fault(zip_get_error(zip_.get()))),
             "etrecord.damaged");
      return std::nullopt;
    }
    std::string text;
    char piece[1 << 16];
    zip_int64_t got = 0;
    while ((got = zip_fread(file, piece, sizeof piece)) > 0) {
      text.append(piece, static_cast<size_t>(got));
      if (text.size() > kMaxEntryBytes) break;
    }
    const bool whole = got == 0 && text.size() == stat.size;  // the checksum is compared at the end
    zip_fclose(file);
    if (whole) return text;
    refuse(fmt::format("the entry `{}` is damaged", name), "etrecord.damaged");
    return std::nullopt;
  }

  std::optional<SortedJson> json_entry(const std::string& name, bool needed) {
    const std::optional<std::string> text = entry(name);
    if (!text) {
      if (needed && !failed_)
        refuse(fmt::format("the entry `{}` is missing", name), "etrecord.incomplete");
      return std::nullopt;
    }
    // Nesting is counted first: a parser that recurses could be brought to its stack's end.
    i64 depth = 0, deepest = 0;
    for (const char c : *text) {
      if (c == '{' || c == '[') deepest = std::max(deepest, ++depth);
      if (c == '}' || c == ']') --depth;
    }
    SortedJson json = deepest > 500 ? SortedJson(SortedJson::value_t::discarded)
                                    : SortedJson::parse(*text, nullptr, false);
    if (!json.is_discarded()) return json;
    refuse(fmt::format("the entry `{}` is not valid JSON", name), "etrecord.damaged");
    return std::nullopt;
  }

  static const SortedJson* member(const SortedJson& j, const char* key) {
    if (!j.is_object()) return nullptr;
    const auto it = j.find(key);
    return it == j.end() ? nullptr : &*it;
  }
  static std::string text_of(const SortedJson& j, const char* key) {
    const SortedJson* m = member(j, key);
    return m && m->is_string() ? m->get<std::string>() : "";
  }

  // Of "key,path,type;key,path,type" the innermost path, without the `self.` and `L['self'].` of
  // tracers.
  static std::string module_of(const std::string& stack) {
    std::vector<std::string> entries(1), parts(1);
    int brackets = 0;
    for (const char c : stack) {
      brackets += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
      if (c == ';' && brackets == 0) entries.emplace_back();
      else entries.back() += c;
    }
    brackets = 0;
    for (const char c : entries.back()) {
      brackets += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
      if (c == ',' && brackets == 0) parts.emplace_back();
      else parts.back() += c;
    }
    return parts.size() >= 2 ? parts[1] : "";
  }

  // Handle -> the operators of the graph that carry it, as ids in `operators`.
  std::optional<std::map<i64, std::vector<i64>>> operators_of_graph(SortedJson& operators) {
    std::string graph_entry;
    for (const char* name :
         {"edge_dialect_exported_program/forward", "edge_dialect_exported_program"})
      if (graph_entry.empty() && zip_name_locate(zip_.get(), name, 0) >= 0) graph_entry = name;
    if (graph_entry.empty()) {
      refuse("has no graph for the method `forward`", "etrecord.incomplete");
      return std::nullopt;
    }
    const std::optional<SortedJson> program = json_entry(graph_entry, true);
    if (!program) return std::nullopt;
    std::map<i64, std::vector<i64>> by_handle;
    const SortedJson* module = member(*program, "graph_module");
    const SortedJson* graph = module ? member(*module, "graph") : nullptr;
    const SortedJson* nodes = graph ? member(*graph, "nodes") : nullptr;
    if (!nodes || !nodes->is_array()) {
      refuse("its graph has no nodes", "etrecord.damaged");
      return std::nullopt;
    }
    std::map<std::string, i64> maker;  // by value
    for (const SortedJson& node : *nodes) {
      const SortedJson* metadata = member(node, "metadata");
      if (!metadata) continue;
      const std::string handle = text_of(*metadata, "debug_handle");
      if (handle.empty() || handle.size() > 9 ||
          !std::all_of(handle.begin(), handle.end(), [](char c) { return c >= '0' && c <= '9'; }))
        continue;
      std::string name = text_of(node, "name"), target = text_of(node, "target");
      const SortedJson* outputs = member(node, "outputs");
      std::vector<std::string> made;
      if (outputs && outputs->is_array())
        for (const SortedJson& o : *outputs)
          if (const SortedJson* t = member(o, "as_tensor"); t && !text_of(*t, "name").empty())
            made.push_back(text_of(*t, "name"));
      if (name.empty() && !made.empty()) name = made[0];
      const size_t at = target.find("aten.");
      if (at != std::string::npos) target = target.substr(at);
      std::set<i64> inputs;
      if (const SortedJson* list = member(node, "inputs"); list && list->is_array())
        for (const SortedJson& input : *list)
          if (const SortedJson* arg = member(input, "arg"))
            if (const SortedJson* t = member(*arg, "as_tensor"))
              if (const auto it = maker.find(text_of(*t, "name")); it != maker.end())
                inputs.insert(it->second);
      const i64 id = static_cast<i64>(operators.size());
      for (const std::string& value : made) maker[value] = id;
      operators.push_back({{"name", name},
                           {"target", target},
                           {"module", module_of(text_of(*metadata, "nn_module_stack"))},
                           {"inputs", inputs}});
      by_handle[std::stoll(handle)].push_back(id);
    }
    return by_handle;
  }

  static std::set<i64> ids_of(const SortedJson& handles,
                              const std::map<i64, std::vector<i64>>& by_handle) {
    std::set<i64> ids;
    const auto take = [&](const SortedJson& h) {
      if (!h.is_number_integer()) return;
      if (const auto it = by_handle.find(h.get<i64>()); it != by_handle.end())
        ids.insert(it->second.begin(), it->second.end());
    };
    if (handles.is_array())
      for (const SortedJson& h : handles) take(h);
    else take(handles);
    return ids;
  }

  static std::optional<i64> number_of(const std::string& text) {
    if (text.empty() || text.size() > 9 ||
        !std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }))
      return std::nullopt;
    return std::stoll(text);
  }

  std::optional<SourceMap> read_stock(const std::optional<SortedJson>& delegates) {
    const std::optional<SortedJson> handles = json_entry("debug_handle_map", true);
    if (!handles) return std::nullopt;
    SortedJson operators = SortedJson::array();
    const auto by_handle = operators_of_graph(operators);
    if (!by_handle) return std::nullopt;
    std::map<i64, SortedJson> calls;
    if (const SortedJson* forward = member(*handles, "forward"); forward && forward->is_object())
      for (const auto& [instruction, list] : forward->items())
        if (const std::optional<i64> k = number_of(instruction))
          calls[*k] = {
              {"instruction", *k}, {"kernel", ""}, {"operators", ids_of(list, *by_handle)}};
    const SortedJson* forward = delegates ? member(*delegates, "forward") : nullptr;
    if (forward && forward->is_object())
      for (const auto& [instruction, delegate] : forward->items()) {
        const std::optional<i64> k = number_of(instruction);
        const SortedJson* inside = member(delegate, "delegate_map");
        if (!k) continue;
        SortedJson& call = calls
                               .try_emplace(*k, SortedJson{{"instruction", *k},
                                                           {"operators", SortedJson::array()}})
                               .first->second;
        call["kernel"] = text_of(delegate, "name");
        SortedJson kernels = SortedJson::array();
        if (inside && inside->is_object())
          for (const auto& [id, list] : inside->items())
            if (const std::optional<i64> number = number_of(id))
              kernels.push_back(
                  {{"id", *number}, {"kernel", ""}, {"operators", ids_of(list, *by_handle)}});
        call["npu_kernels"] = kernels;
      }
    SortedJson list = SortedJson::array();
    for (auto& [k, call] : calls) list.push_back(std::move(call));
    std::optional<SourceMap> map = read_source_map(
        {{"format", 1}, {"operators", operators}, {"calls", list}}, path_, diagnostics_);
    if (map) map->is_stock = true;
    return map;
  }

  std::span<const std::byte> bytes_;
  const std::string& path_;
  Diagnostics& diagnostics_;
  Zip zip_;
  bool failed_ = false;
};

}  // namespace

std::optional<SourceMap> read_etrecord(std::span<const std::byte> bytes, const std::string& name,
                                       Diagnostics& diagnostics) {
  return RecordReader(bytes, name, diagnostics).read();
}

std::optional<SourceMap> read_etrecord(const std::string& path, Diagnostics& diagnostics) {
  const std::optional<std::vector<std::byte>> bytes = read_file(path, diagnostics);
  if (!bytes) return std::nullopt;
  return read_etrecord(*bytes, path, diagnostics);
}

bool is_etrecord(std::span<const std::byte> bytes) {
  std::string why;
  const Zip zip = open_zip(bytes, ZIP_CHECKCONS, why);
  return zip && zip_name_locate(zip.get(), kMark, 0) >= 0;
}

}  // namespace deuteron
