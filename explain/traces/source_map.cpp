// SPDX-License-Identifier: Apache-2.0
#include "explain/traces/source_map.h"

#include <fmt/format.h>

#include <algorithm>

namespace deuteron {
namespace {

using SortedJson = nlohmann::json;

// Takes members out of objects that may hold anything; the first thing that is wrong is kept.
class MapReader {
 public:
  std::string fault;

  SourceMap read(SortedJson json) {
    SourceMap map;
    if (!json.is_object()) {
      wrong("the map", "is not an object");
      return map;
    }
    map.program_id = text(json, "program_id");
    map.model = text(json, "model");
    map.target = text(json, "target");
    for (const SortedJson& j : list(json, "operators")) {
      MapOperator o{text(j, "name"), text(j, "target"), text(j, "module"), text(j, "placement"),
                    text(j, "reason")};
      map.operators.push_back(std::move(o));
    }
    operators_ = static_cast<i64>(map.operators.size());
    for (const SortedJson& j : list(json, "operators")) ids(j, "inputs");
    for (const SortedJson& j : list(json, "calls")) {
      MapKernel call = kernel(j, "instruction");
      for (const SortedJson& k : list(j, "npu_kernels")) call.inside.push_back(kernel(k, "id"));
      for (const SortedJson& k : list(j, "without_kernel")) one_id(k);
      map.calls.push_back(std::move(call));
    }
    // Records of before the vendor's converter was mapped name kernels of the open model only.
    const auto model = json.find("npu_is_open_model");
    map.npu_is_open_model = model != json.end() && model->is_boolean()
                                ? model->get<bool>()
                                : std::any_of(map.calls.begin(), map.calls.end(),
                                              [](const MapKernel& c) { return !c.inside.empty(); });
    for (const SortedJson& j : list(json, "folded")) one_id(j);
    for (const SortedJson& m : list(json, "memory")) {
      for (const char* key : {"bytes", "used", "lower_bound"}) number(m, key, 0);
      for (const SortedJson& t : list(m, "tensors"))
        for (const char* key : {"offset", "bytes", "first", "last"}) number(t, key, 0);
    }
    map.json = std::move(json);
    return map;
  }

 private:
  void wrong(const std::string& what, const char* how) {
    if (fault.empty()) fault = fmt::format("{} {}", what, how);
  }
  std::string text(const SortedJson& j, const char* key) {
    const auto it = j.is_object() ? j.find(key) : j.end();
    if (it == j.end()) return "";
    if (it->is_string()) return it->get<std::string>();
    wrong(fmt::format("`{}`", key), "is not a string");
    return "";
  }
  i64 number(const SortedJson& j, const char* key, i64 missing) {
    const auto it = j.is_object() ? j.find(key) : j.end();
    if (it == j.end()) return missing;
    if (it->is_number_integer() &&
        (!it->is_number_unsigned() || it->get<uint64_t>() <= uint64_t{INT64_MAX}) &&
        it->get<i64>() >= 0)
      return it->get<i64>();
    wrong(fmt::format("`{}`", key), "is not a whole number from 0");
    return missing;
  }
  const SortedJson& list(const SortedJson& j, const char* key) {
    static const SortedJson kNone = SortedJson::array();
    const auto it = j.is_object() ? j.find(key) : j.end();
    if (it == j.end()) return kNone;
    const bool objects =
        it->is_array() &&
        std::all_of(it->begin(), it->end(), [](const SortedJson& e) { return e.is_object(); });
    if (objects) return *it;
    wrong(fmt::format("`{}`", key), "is not a list of objects");
    return kNone;
  }
  std::vector<i64> ids(const SortedJson& j, const char* key) {
    std::vector<i64> found;
    const auto it = j.find(key);
    if (it == j.end()) return found;
    if (!it->is_array()) wrong(fmt::format("`{}`", key), "is not a list");
    else
      for (const SortedJson& e : *it) {
        const bool fits = e.is_number_integer() && e.get<i64>() >= 0 && e.get<i64>() < operators_;
        if (fits) found.push_back(e.get<i64>());
        else wrong(fmt::format("`{}`", key), "names an operator that is not in the map");
      }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }
  void one_id(const SortedJson& j) {
    const i64 id = number(j, "operator", -1);
    if (id < 0 || id >= operators_) wrong("`operator`", "is not in the map");
  }
  MapKernel kernel(const SortedJson& j, const char* id) {
    MapKernel k;
    k.id = number(j, id, -1);
    if (k.id < 0) wrong(fmt::format("`{}`", id), "is missing");
    k.kernel = text(j, "kernel");
    k.placement = text(j, "placement");
    k.operators = ids(j, "operators");
    const auto added = j.find("added");
    k.added = added != j.end() && added->is_boolean() && added->get<bool>();
    k.macs = number(j, "macs", -1);
    k.bytes = number(j, "bytes", -1);
    k.predicted_cycles = number(j, "predicted_cycles", -1);
    k.apart_cycles = number(j, "apart_cycles", 0);
    k.bound = text(j, "bound");
    k.open = text(j, "open");
    return k;
  }

  i64 operators_ = 0;
};

}  // namespace

const MapKernel* SourceMap::call(i64 instruction) const {
  // Calls lie in order, and mostly at their own number.
  if (instruction >= 0 && instruction < static_cast<i64>(calls.size()) &&
      calls[instruction].id == instruction)
    return &calls[instruction];
  for (const MapKernel& c : calls)
    if (c.id == instruction) return &c;
  return nullptr;
}

const MapKernel* find_kernel(const MapKernel& call, i64 id) {
  if (id >= 0 && id < static_cast<i64>(call.inside.size()) && call.inside[id].id == id)
    return &call.inside[id];
  for (const MapKernel& k : call.inside)
    if (k.id == id) return &k;
  return nullptr;
}

std::optional<SourceMap> read_source_map(SortedJson json, const std::string& where,
                                         Diagnostics& diagnostics) {
  const i64 format =
      json.is_object() && json.contains("format") && json["format"].is_number_integer()
          ? json["format"].get<i64>()
          : 0;
  if (format != 1) {
    diagnostics.add({Severity::error, where, "the program map has a form that is not known here",
                     fmt::format("{}", format), "1", "etrecord.format",
                     "write the record with the same version of deuteron that reads it"});
    return std::nullopt;
  }
  MapReader reader;
  SourceMap map = reader.read(std::move(json));
  if (reader.fault.empty()) return map;
  diagnostics.error(where, "the program map is damaged: " + reader.fault, "etrecord.damaged",
                    "write the record again: deuteron compile --etrecord FILE");
  return std::nullopt;
}

}  // namespace deuteron
