// SPDX-License-Identifier: Apache-2.0
// See regions.h and, for the rules, kernel_map.h.
#include "backends/neutron_converter/regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <set>

namespace deuteron::neutron {
namespace {

// TFLite operators that never change a byte: where no kernel lists one, none computes it.
constexpr std::array<std::string_view, 3> kSameBytes = {"RESHAPE", "SQUEEZE", "EXPAND_DIMS"};
bool is_same_bytes(const std::string& type) { return std::find(kSameBytes.begin(), kSameBytes.end(), type) != kSameBytes.end(); }

// A row of the list, with its graph.
struct Row {
  std::vector<std::string> inputs, outputs;  // without constants
  const DumpSubgraph* graph = nullptr;       // null: not printed
};

class RegionFinder {
 public:
  RegionFinder(const ConsoleDump& dump, const ModelFace& model) : dump_(dump), model_(model) {
    for (size_t op = 0; op < model.operators.size(); ++op)
      for (const std::string& name : model.operators[op].outputs) {
        const bool is_new = producer_.emplace(name, static_cast<i32>(op)).second;
        if (!is_new) twice_.insert(name);
      }
    for (const ModelPort& p : model.inputs)
      if (!producer_.contains(p.name)) producer_.emplace(p.name, -1);
    for (const DumpOperator& row : dump.extracted) rows_.push_back(row_of(row));
    region_.resize(rows_.size());
    std::iota(region_.begin(), region_.end(), 0);
  }

  std::vector<ListedKernels> find() {
    join_rows();
    std::vector<ListedKernels> result(rows_.size());
    for (size_t r = 0; r < rows_.size(); ++r)
      if (root(r) == r) resolve(r, result);
    return result;
  }

 private:
  bool is_constant(const std::string& name) const {
    const auto at = dump_.constant.find(name);
    return at != dump_.constant.end() && at->second;
  }
  std::vector<std::string> variables(const std::vector<std::string>& names) const {
    std::vector<std::string> list;
    for (const std::string& n : names)
      if (!is_constant(n)) list.push_back(n);
    return list;
  }

  Row row_of(const DumpOperator& row) const {
    for (const DumpSubgraph& g : dump_.generated)
      if (g.number == row.number) return {variables(g.inputs), variables(g.outputs), &g};
    return {};
  }

  // The same value before and after the conversion.
  bool is_anchor(const std::string& name) const { return producer_.contains(name) && !twice_.contains(name); }
  // "conv/pad" was made of "conv": the longest such name of the model; empty: none.
  std::string base_of(std::string name) const {
    while (!is_anchor(name)) {
      const size_t slash = name.rfind('/');
      if (slash == std::string::npos) return {};
      name.resize(slash);
    }
    return name;
  }

  size_t root(size_t r) const {
    while (region_[r] != r) r = region_[r];
    return r;
  }

  // Rows that hand each other a tensor without a name of the model belong together.
  void join_rows() {
    std::map<std::string, size_t> maker;
    for (size_t r = 0; r < rows_.size(); ++r) {
      for (const std::string& in : rows_[r].inputs)
        if (const auto at = maker.find(in); at != maker.end() && !is_anchor(in)) region_[root(r)] = root(at->second);
      for (const std::string& out : rows_[r].outputs) maker[out] = r;
    }
  }

  // The operators between what the region writes and what it reads, and whether both ends are known.
  std::optional<std::set<i32>> between(const std::vector<size_t>& members) const {
    std::set<std::string> reads, writes;
    for (const size_t r : members) {
      for (const std::string& in : rows_[r].inputs)
        if (const std::string name = base_of(in); !name.empty() && name == in) reads.insert(name);
        else if (!name.empty() && !made_inside(members, in)) reads.insert(name);
      for (const std::string& out : rows_[r].outputs)
        if (is_anchor(out)) writes.insert(out);
    }
    for (const std::string& w : writes) reads.erase(w);
    if (writes.empty()) return std::nullopt;
    std::set<i32> ops;
    std::vector<std::string> todo(writes.begin(), writes.end());
    std::set<std::string> seen(writes.begin(), writes.end());
    while (!todo.empty()) {
      const auto at = producer_.find(todo.back());
      todo.pop_back();
      if (at == producer_.end() || at->second < 0) continue;
      const ModelOperator& op = model_.operators[static_cast<size_t>(at->second)];
      ops.insert(at->second);
      for (size_t k = 0; k < op.inputs.size(); ++k)
        if (!op.is_constant[k] && !stops(op.inputs[k], reads, writes) && seen.insert(op.inputs[k]).second) todo.push_back(op.inputs[k]);
    }
    return ops;
  }
  bool made_inside(const std::vector<size_t>& members, const std::string& name) const {
    return std::any_of(members.begin(), members.end(), [&](size_t r) {
      return std::find(rows_[r].outputs.begin(), rows_[r].outputs.end(), name) != rows_[r].outputs.end();
    });
  }
  bool stops(const std::string& name, const std::set<std::string>& reads, const std::set<std::string>& writes) const {
    if (reads.contains(name)) return true;
    if (writes.contains(name)) return false;
    for (const Row& row : rows_)  // another region makes it
      if (std::find(row.outputs.begin(), row.outputs.end(), name) != row.outputs.end()) return true;
    return false;
  }

  // The operators that a node of a row surely computes: the one whose result it writes, and the only one of its type.
  std::set<i32> operators_of(const DumpNode& node, const std::set<i32>& ops) const {
    const auto type_of = [&](i32 op) -> const std::string& { return model_.operators[static_cast<size_t>(op)].type; };
    std::set<i32> found;
    std::vector<i32> same_type;
    for (const i32 op : ops)
      if (type_of(op) == node.type) same_type.push_back(op);
    for (const std::string& out : node.outputs) {
      const std::string name = base_of(out);
      const auto at = name.empty() ? producer_.end() : producer_.find(name);
      if (at == producer_.end() || !ops.contains(at->second)) continue;
      const bool writes_it = name == out && !is_same_bytes(type_of(at->second));
      if (writes_it || type_of(at->second) == node.type) found.insert(at->second);
    }
    if (same_type.size() == 1) found.insert(same_type[0]);
    if (found.empty())
      for (const i32 op : same_type)
        if (has_constants_of(node, model_.operators[static_cast<size_t>(op)])) found.insert(op);
    return found;
  }
  bool has_constants_of(const DumpNode& node, const ModelOperator& op) const {
    bool any = false;
    for (size_t k = 0; k < op.inputs.size(); ++k) {
      if (!op.is_constant[k]) continue;
      any = true;
      const auto is_it = [&](const std::string& in) { return in == op.inputs[k] || in.starts_with(op.inputs[k] + "/"); };
      if (std::none_of(node.inputs.begin(), node.inputs.end(), is_it)) return false;
    }
    return any;
  }

  void resolve(size_t region, std::vector<ListedKernels>& result) const {
    std::vector<size_t> members;
    for (size_t r = 0; r < rows_.size(); ++r)
      if (root(r) == region) members.push_back(r);
    const bool is_printed = std::all_of(members.begin(), members.end(), [&](size_t r) { return rows_[r].graph != nullptr; });
    const std::optional<std::set<i32>> ops = is_printed ? between(members) : std::nullopt;
    if (!ops) {
      for (const size_t r : members)
        result[r].open = is_printed ? "none of its results has a name of the model" : "the text has no graph of it";
      return;
    }
    const std::vector<std::set<i32>> own = named_in(members, *ops);
    std::set<i32> all = *ops, left;
    std::erase_if(all, [&](i32 op) { return is_same_bytes(model_.operators[static_cast<size_t>(op)].type); });
    if (all.empty()) all = *ops;
    left = all;
    bool has_unnamed = false;
    for (const std::set<i32>& named : own) {
      for (const i32 op : named) left.erase(op);
      has_unnamed |= named.empty();
    }
    for (size_t k = 0; k < members.size(); ++k) {
      std::set<i32> computed = own[k].empty() ? all : own[k];
      if (own[k].empty() || !has_unnamed) computed.insert(left.begin(), left.end());  // inside one of these kernels
      result[members[k]].ops.assign(computed.begin(), computed.end());
    }
  }

  // By member: the operators that its nodes name.
  std::vector<std::set<i32>> named_in(const std::vector<size_t>& members, const std::set<i32>& ops) const {
    std::vector<std::set<i32>> own(members.size());
    std::map<std::string, std::vector<size_t>> unnamed;  // by type: members with such a node
    std::set<i32> left = ops;
    for (size_t k = 0; k < members.size(); ++k)
      for (const DumpNode& node : rows_[members[k]].graph->nodes) {
        const std::set<i32> found = operators_of(node, ops);
        if (found.empty()) unnamed[node.type].push_back(k);
        for (const i32 op : found) own[k].insert(op), left.erase(op);
      }
    // One node and one operator of a type are left over: they are each other's.
    for (const auto& [type, where] : unnamed) {
      std::vector<i32> candidates;
      for (const i32 op : left)
        if (model_.operators[static_cast<size_t>(op)].type == type) candidates.push_back(op);
      if (where.size() == 1 && candidates.size() == 1) own[where[0]].insert(candidates[0]);
    }
    return own;
  }

  const ConsoleDump& dump_;
  const ModelFace& model_;
  std::map<std::string, i32> producer_;  // operator, -1: an input of the model
  std::set<std::string> twice_;          // names of several tensors
  std::vector<Row> rows_;
  std::vector<size_t> region_;
};

}  // namespace

std::vector<ListedKernels> operators_of_regions(const ConsoleDump& dump, const ModelFace& model) {
  return RegionFinder(dump, model).find();
}

}  // namespace deuteron::neutron
