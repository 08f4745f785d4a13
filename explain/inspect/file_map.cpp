// SPDX-License-Identifier: Apache-2.0
#include "explain/inspect/file_map.h"

#include <fmt/format.h>

#include <algorithm>

#include "compile/lower/user_operators.h"
#include "explain/inspect/writes.h"
#include "explain/report/program_map.h"

namespace deuteron {
namespace {

using SortedJson = nlohmann::json;

constexpr i32 kInput = -1;  // who writes the program's inputs

// "deuteron::packed_conv2d.mve_4x16" -> "packed_conv2d"
std::string short_name(const std::string& op) {
  const size_t scope = op.rfind("::"), begin = scope == std::string::npos ? 0 : scope + 2;
  return op.substr(begin, op.find('.', begin) - begin);
}

const char* placement_of(const std::string& op) {
  if (op == "NeutronBackend") return "npu";
  return op.starts_with("aten::") || op.starts_with("dim_order_ops::") ? "portable" : "cpu";
}

// The planned memory by what is written there; each write lives until its last reader.
class Lives {
 public:
  void write(const PteTensor& t, i32 call, const std::string& name, const char* kind) {
    writes_.add(t, static_cast<i32>(tensors_.size()));
    makers_.push_back(call);
    const i32 first = std::max(call, 0);
    tensors_.push_back(planned_tensor(name, t.offset, t.bytes, first, first, kind));
  }

  // The calls that wrote what is read.
  std::vector<i32> read(const PteTensor& t, i32 call) {
    std::vector<i32> from;
    for (const i32 w : writes_.behind(t)) {
      tensors_[static_cast<size_t>(w)]["last"] = call;
      const i32 maker = makers_[static_cast<size_t>(w)];
      if (maker != kInput && std::ranges::find(from, maker) == from.end()) from.push_back(maker);
    }
    return from;
  }

  void give(const PteTensor& output, i32 last_call) {
    for (const i32 w : writes_.behind(output)) {
      tensors_[static_cast<size_t>(w)]["last"] = last_call;
      tensors_[static_cast<size_t>(w)]["kind"] = "output";
    }
  }

  SortedJson take() { return std::move(tensors_); }

 private:
  Writes writes_;  // by index of tensors_
  std::vector<i32> makers_;
  SortedJson tensors_ = SortedJson::array();
};

SortedJson flash_of(const PteSummary& s) {
  i64 payload = 0;
  for (const PteDelegate& d : s.delegates) payload += d.is_inline ? 0 : d.payload_bytes;
  return {{"constants", s.constants_bytes},
          {"payload", payload},
          {"program", std::max<i64>(0, s.file_bytes - s.constants_bytes - payload)}};
}

}  // namespace

SortedJson map_of_model(const Graph& g, const std::string& path) {
  const std::vector<UserOperator> user = user_operators(g);
  std::vector<i32> id(user.size(), -1);
  i32 count = 0;
  for (size_t k = 0; k < user.size(); ++k)
    if (!user[k].is_quantizer) id[k] = count++;
  SortedJson operators = SortedJson::array();
  for (size_t k = 0; k < user.size(); ++k) {
    if (id[k] < 0) continue;
    const SourceOp& source = g.sources[k];
    SortedJson j = {{"name", source.name},
                    {"target", source.target},
                    {"inputs", SortedJson::array()},
                    {"macs", user[k].macs}};
    for (const i32 from : user[k].inputs)
      if (id[static_cast<size_t>(from)] >= 0) j["inputs"].push_back(id[static_cast<size_t>(from)]);
    if (!source.module.empty()) j["module"] = source.module;
    if (!source.stack.empty()) j["stack"] = source.stack;
    if (user[k].has_result) j["shape"] = user[k].shape, j["dtype"] = name_of(user[k].dtype);
    operators.push_back(std::move(j));
  }
  return {{"model", path}, {"operators", std::move(operators)}};
}

SortedJson map_of_program(const PteSummary& s, const std::string& path, const std::string& id) {
  SortedJson operators = SortedJson::array(), calls = SortedJson::array();
  Lives lives;
  for (const PteTensor& t : s.inputs)
    lives.write(t, kInput, fmt::format("input{}", &t - s.inputs.data()), "input");
  for (size_t k = 0; k < s.calls.size(); ++k) {
    const PteCall& call = s.calls[k];
    const i32 number = static_cast<i32>(k);
    const std::string name = fmt::format("{} {}", short_name(call.op), k);
    SortedJson op = {{"name", name},
                     {"target", call.op},
                     {"placement", placement_of(call.op)},
                     {"inputs", SortedJson::array()}};
    i64 bytes = 0;
    for (const PteTensor& t : call.reads) {
      bytes += t.bytes;
      if (t.constant) continue;
      for (const i32 from : lives.read(t, number)) op["inputs"].push_back(from);
    }
    for (const PteTensor& t : call.scratch) lives.write(t, number, name + ".scratch", "scratch");
    for (const PteTensor& t : call.writes) {
      bytes += t.bytes;
      lives.write(t, number, name, "activation");
    }
    if (!call.writes.empty())
      op["shape"] = call.writes[0].sizes, op["dtype"] = name_of(call.writes[0].type);
    operators.push_back(std::move(op));
    calls.push_back({{"instruction", k},
                     {"kernel", call.op},
                     {"operators", {k}},
                     {"placement", placement_of(call.op)},
                     {"bytes", bytes}});
  }
  for (const PteTensor& t : s.outputs) lives.give(t, static_cast<i32>(s.calls.size()) - 1);
  return {{"model", path},
          {"program_id", id},
          {"operators", std::move(operators)},
          {"calls", std::move(calls)},
          {"memory",
           {{{"name", "planned memory"}, {"used", s.planned_bytes}, {"tensors", lives.take()}}}},
          {"flash", flash_of(s)}};
}

}  // namespace deuteron
