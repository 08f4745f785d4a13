// SPDX-License-Identifier: Apache-2.0
#include "explain/traces/write_etrecord.h"

#include <fmt/format.h>
#include <zip.h>

#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/check.h"
#include "frontends/pt2/schema/torch_schema.h"
#include "runtime/etdump.h"

namespace deuteron {
namespace {

using SortedJson = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

SortedJson handles(const SortedJson& operators) {
  SortedJson list = SortedJson::array();
  for (const int id : operators) list.push_back(id + 1);
  return list;
}

std::string text_of(const auto& json) {
  return json.dump(-1, ' ', false, SortedJson::error_handler_t::replace);
}

// ---- maps

SortedJson debug_handle_map(const SortedJson& map) {
  SortedJson forward = SortedJson::object();
  for (const SortedJson& call : map["calls"])
    if (!call["operators"].empty())
      forward[std::to_string(call["instruction"].get<int>())] = handles(call["operators"]);
  return {{"forward", std::move(forward)}};
}

// By the ids that our runtime gives the kernels of a call, and by those of stock firmware. The id
// behind the last kernel is the profile's dump, which belongs to no operator. An id that means two
// kernels has no operators either.
std::map<int, SortedJson> handles_by_id(const SortedJson& kernels) {
  std::map<int, SortedJson> inside;
  for (const int first : {0, kFirstDelegateId}) {
    int id = first;
    const auto add = [&](SortedJson list) {
      const auto [at, is_new] = inside.emplace(id++, list);
      if (!is_new && at->second != list) at->second = SortedJson::array();
    };
    for (const SortedJson& kernel : kernels) add(handles(kernel["operators"]));
    add(SortedJson::array());
  }
  return inside;
}

// The Inspector takes the last key of the file that is a part of an id's text, so the keys stand in
// the order of their numbers: "1", "10".
OrderedJson delegate_map(const SortedJson& map) {
  OrderedJson forward = OrderedJson::object();
  for (const SortedJson& call : map["calls"]) {
    if (!call.contains("npu_kernels")) continue;
    OrderedJson inside = OrderedJson::object();
    for (const auto& [id, list] : handles_by_id(call["npu_kernels"]))
      inside[std::to_string(id)] = list;
    OrderedJson& entry = forward[std::to_string(call["instruction"].get<int>())];
    entry["name"] = call["kernel"];
    entry["delegate_map"] = std::move(inside);
  }
  OrderedJson whole;
  whole["deuteron"] = map;
  whole["forward"] = std::move(forward);
  return whole;
}

// ---- the graph

// Numbers of torch's serialized dtypes (torch/_export/serde/schema.py, ScalarType).
int dtype_number(const std::string& name) {
  static constexpr std::pair<const char*, int> kNumbers[] = {
      {"u8", 1},  {"s8", 2},  {"s16", 3}, {"s32", 4}, {"s64", 5},
      {"f16", 6}, {"f32", 7}, {"f64", 8}, {"b8", 12}, {"bf16", 13}};
  for (const auto& [known, number] : kNumbers)
    if (name == known) return number;
  return 7;
}

SortedJson integers(const std::vector<int64_t>& values) {
  SortedJson list = SortedJson::array();
  for (const int64_t v : values) list.push_back({{"as_int", v}});
  return list;
}

SortedJson tensor_of(const SortedJson& op) {
  const std::vector<int64_t> sizes = op.value("shape", std::vector<int64_t>{1});
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t k = sizes.size(); k-- > 1;) strides[k - 1] = strides[k] * sizes[k];
  return {{"dtype", dtype_number(op.value("dtype", "f32"))},
          {"sizes", integers(sizes)},
          {"requires_grad", false},
          {"device", {{"type", "cpu"}}},
          {"strides", integers(strides)},
          {"storage_offset", {{"as_int", 0}}},
          {"layout", 7}};  // strided
}

// An operator that changes its operand is told as the one that does not: the dialect of the graph
// has no others.
std::string functional(const std::string& target) {
  const size_t dot = target.rfind('.');
  if (dot == target.npos || dot == 0 || target[dot - 1] != '_') return target;
  const std::string plain = target.substr(0, dot - 1) + target.substr(dot);
  return parameters_of(plain) ? plain : target;
}

// "a.b" as its ancestors, from the model itself:
// "L__self__,,torch.nn.Module;a,a,torch.nn.Module;a.b,a.b,torch.nn.Module"
std::string module_stack(const std::string& path) {
  std::string text = "L__self__,,torch.nn.Module";
  for (size_t end = path.find('.'); !path.empty(); end = path.find('.', end + 1)) {
    const std::string prefix = path.substr(0, end);
    text += fmt::format(";{},{},torch.nn.Module", prefix, prefix);
    if (end == path.npos) break;
  }
  return text;
}

SortedJson graph(const SortedJson& map) {
  SortedJson nodes = SortedJson::array(), tensors = SortedJson::object();
  std::set<std::string> used;
  int handle = 0;
  for (const SortedJson& op : map["operators"]) {
    ++handle;
    std::string name = op["name"];
    while (name.empty() || !used.insert(name).second) name += fmt::format("_{}", handle);
    const std::string target = functional(op["target"]);
    SortedJson inputs = SortedJson::array();
    // Readers of a graph refuse a node without a parameter that has no default. An operator that
    // the reader does not know becomes a fake one there, whatever its inputs.
    const auto parameters = parameters_of(target);
    if (parameters)
      for (const TorchParameter& p : *parameters)
        if (p.is_required()) inputs.push_back({{"name", p.name}, {"arg", {{"as_none", true}}}});
    SortedJson metadata = {{"debug_handle", std::to_string(handle)}};
    if (op.contains("stack")) metadata["stack_trace"] = op["stack"];
    metadata["nn_module_stack"] = module_stack(op.value("module", ""));
    nodes.push_back({{"name", name},
                     {"target", "executorch.exir.dialects.edge.ops." +
                                    (parameters ? target : "deuteron.operator.default")},
                     {"inputs", std::move(inputs)},
                     {"outputs", SortedJson::array({{{"as_tensor", {{"name", name}}}}})},
                     {"metadata", std::move(metadata)}});
    tensors[name] = tensor_of(op);
  }
  const SortedJson inner = {{"inputs", SortedJson::array()},
                            {"outputs", SortedJson::array()},
                            {"nodes", std::move(nodes)},
                            {"tensor_values", std::move(tensors)},
                            {"sym_int_values", SortedJson::object()},
                            {"sym_bool_values", SortedJson::object()},
                            {"is_single_tensor_return", false},
                            {"custom_obj_values", SortedJson::object()}};
  return {{"graph_module",
           {{"graph", inner},
            {"signature",
             {{"input_specs", SortedJson::array()}, {"output_specs", SortedJson::array()}}},
            {"module_call_graph", SortedJson::array()}}},
          {"opset_version", SortedJson::object()},
          {"range_constraints", SortedJson::object()},
          {"schema_version", {{"major", 5}, {"minor", 4}}},
          {"dialect", ""},
          {"verifiers", SortedJson::array()}};
}

// ---- the archive

// An archive in memory fails where none is left, and nowhere else.
void need(bool done) {
  if (!done) throw std::bad_alloc();
}

std::vector<uint8_t> archive(const std::vector<std::pair<std::string, std::string>>& entries) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* memory = zip_source_buffer_create(nullptr, 0, 0, &error);
  need(memory != nullptr);
  zip_source_keep(memory);
  zip_t* zip = zip_open_from_source(memory, ZIP_TRUNCATE, &error);
  need(zip != nullptr);
  for (const auto& [name, text] : entries) {
    zip_source_t* content = zip_source_buffer(zip, text.data(), text.size(), 0);
    const zip_int64_t index = zip_file_add(zip, name.c_str(), content, ZIP_FL_ENC_UTF_8);
    need(index >= 0);
    zip_set_file_compression(zip, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);
    zip_file_set_dostime(zip, static_cast<zip_uint64_t>(index), 0, 0x21,
                         0);  // 1980-01-01: no date makes two records differ
  }
  need(zip_close(zip) == 0);
  need(zip_source_open(memory) == 0);
  zip_stat_t stat;
  zip_source_stat(memory, &stat);
  std::vector<uint8_t> bytes(stat.size);
  need(zip_source_read(memory, bytes.data(), bytes.size()) ==
       static_cast<zip_int64_t>(bytes.size()));
  zip_source_close(memory);
  zip_source_free(memory);
  return bytes;
}

}  // namespace

std::vector<uint8_t> write_etrecord(const SortedJson& map) {
  const std::string edge = "edge_dialect_exported_program/forward";
  return archive(
      {{"ETRECORD_V0", ""},
       {edge, text_of(graph(map))},
       {edge + "_state_dict", ""},
       {edge + "_constants", ""},
       {edge + "_example_inputs", ""},
       {"debug_handle_map", text_of(debug_handle_map(map))},
       {"instruction_id_to_num_outs_map", text_of(SortedJson{{"forward", SortedJson::object()}})},
       {"delegate_map", text_of(delegate_map(map))}});
}

}  // namespace deuteron
