// SPDX-License-Identifier: Apache-2.0
// See regions.h and, for the rules, kernel_map.h.
#include "npu/neutron/vendor/regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <set>

namespace deuteron::neutron {
namespace {

// Which may be done by where their operands lie, so that nobody makes their results.
constexpr std::array<std::string_view, 9> kInPlace = {"RESHAPE",       "SQUEEZE", "EXPAND_DIMS",
                                                      "CONCATENATION", "SLICE",   "STRIDED_SLICE",
                                                      "SPLIT",         "SPLIT_V", "PACK"};

// A row of the list, with its graph; or a graph without a row.
struct Row {
  std::vector<std::string> inputs, outputs;  // without constants
  const DumpSubgraph* graph = nullptr;       // null: not printed
  std::string fault;                         // what is wrong with the graph; empty: nothing
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
    for (const ModelOperator& op : model.operators)
      for (size_t k = 0; k < op.inputs.size(); ++k)
        if (op.is_constant[k]) constants_.insert(op.inputs[k]);
    std::set<i64> listed(dump.whole_graphs.begin(), dump.whole_graphs.end());
    for (const DumpOperator& row : dump.extracted)
      rows_.push_back(row_of(row.number)), listed.insert(row.number);
    for (const DumpSubgraph& g : dump.generated)
      if (listed.insert(g.number).second) rows_.push_back(row_of(g.number));
    for (size_t r = 0; r < rows_.size(); ++r)
      for (const std::string& out : rows_[r].outputs) maker_.emplace(out, r);
    region_.resize(rows_.size());
    std::iota(region_.begin(), region_.end(), 0);
  }

  Regions find() {
    join_rows();
    Regions result{std::vector<ListedKernels>(rows_.size()), find_gaps()};
    for (size_t r = 0; r < rows_.size(); ++r)
      if (root(r) == r) resolve(r, result.rows);
    result.rows.resize(dump_.extracted.size());
    for (size_t r = 0; r < result.rows.size(); ++r)
      result.rows[r].agrees = agrees(dump_.extracted[r], rows_[r].graph);
    return result;
  }

 private:
  bool is_constant(const std::string& name) const {
    if (producer_.contains(name)) return false;
    const auto at = dump_.constant.find(name);
    return constants_.contains(name) || (at != dump_.constant.end() && at->second);
  }
  std::vector<std::string> variables(const std::vector<std::string>& names) const {
    std::vector<std::string> list;
    for (const std::string& n : names)
      if (!is_constant(n)) list.push_back(n);
    return list;
  }

  static bool agrees(const DumpOperator& row, const DumpSubgraph* graph) {
    return !graph || std::ranges::equal(row.operators, graph->nodes, {}, {}, &DumpNode::type);
  }

  Row row_of(i64 number) const {
    Row row;
    for (const DumpSubgraph& g : dump_.generated) {
      if (g.number != number || number < 0) continue;
      if (row.graph && !(g == *row.graph)) row.fault = "the text has two graphs of it";
      if (!row.graph) row = {variables(g.inputs), variables(g.outputs), &g, {}};
    }
    if (!row.graph) row.fault = "the text has no graph of it";
    else if (row.fault.empty() && !is_sound(row)) row.fault = "its graph in the text is damaged";
    return row;
  }

  // Nodes read what the graph reads or they make, and make what it gives.
  bool is_sound(const Row& row) const {
    std::set<std::string> known(row.graph->inputs.begin(), row.graph->inputs.end());
    bool is_whole = row.graph->is_whole && !row.outputs.empty() && !row.graph->nodes.empty();
    for (const DumpNode& node : row.graph->nodes) {
      is_whole &= node.is_whole && !node.outputs.empty();
      known.insert(node.outputs.begin(), node.outputs.end());
    }
    for (const DumpNode& node : row.graph->nodes)
      for (const std::string& in : node.inputs) is_whole &= known.contains(in) || is_constant(in);
    return is_whole && std::ranges::all_of(row.outputs, [&](const std::string& out) {
             return known.contains(out);
           });
  }

  // ---- gaps: what the rows read, and what the model gives, must come from somewhere

  bool comes_from_somewhere(const std::string& name, size_t depth = 0) const {
    if (maker_.contains(name) || is_constant(name)) return true;
    const auto at = producer_.find(name);
    if (at == producer_.end() || depth > model_.operators.size()) return false;
    if (at->second < 0) return true;
    const ModelOperator& op = model_.operators[static_cast<size_t>(at->second)];
    if (std::ranges::count(kInPlace, op.type) == 0) return false;
    return std::ranges::all_of(
        op.inputs, [&](const std::string& in) { return comes_from_somewhere(in, depth + 1); });
  }

  // The row behind which a missing maker of the tensor lies: the first of those that make what it
  // may read.
  size_t first_place(const std::string& name, std::set<std::string>& seen) const {
    const auto at = producer_.find(base_of(name));
    if (!seen.insert(name).second || at == producer_.end() || at->second < 0) return 0;
    const ModelOperator& op = model_.operators[static_cast<size_t>(at->second)];
    size_t first = rows_.size();
    for (size_t k = 0; k < op.inputs.size(); ++k) {
      if (op.is_constant[k]) continue;
      const auto maker = maker_.find(op.inputs[k]);
      const bool is_row = maker != maker_.end() && maker->second < dump_.extracted.size();
      first = std::min(first, is_row ? maker->second + 1 : first_place(op.inputs[k], seen));
    }
    return first == rows_.size() ? 0 : first;
  }

  // Of a graph without a row, where graphs are printed in the order of the rows: the rows before
  // it.
  std::optional<size_t> place_of(const DumpSubgraph* graph) const {
    size_t before = 0, last = 0;
    for (const DumpSubgraph& g : dump_.generated) {
      const auto row = std::ranges::find(dump_.extracted, g.number, &DumpOperator::number);
      if (row == dump_.extracted.end()) continue;
      const auto number = static_cast<size_t>(row - dump_.extracted.begin());
      if (number < last) return std::nullopt;
      last = number;
      if (&g < graph) before = number + 1;
    }
    return before;
  }

  std::vector<bool> find_gaps() const {
    const size_t rows = dump_.extracted.size();
    std::vector<bool> gaps(rows + 1, false);
    const auto mark = [&](size_t first, size_t last) {
      for (size_t p = std::min(first, last); p <= last; ++p) gaps[p] = true;
    };
    const auto needs = [&](const std::string& name, size_t reader) {
      std::set<std::string> seen;
      if (!comes_from_somewhere(name)) return mark(first_place(name, seen), reader);
      const auto maker = maker_.find(name);
      if (maker == maker_.end() || maker->second < rows) return;
      if (const auto place = place_of(rows_[maker->second].graph)) mark(*place, *place);
      else mark(0, reader);
    };
    for (size_t r = 0; r < rows_.size(); ++r)
      for (const std::string& in : rows_[r].inputs) needs(in, std::min(r, rows));
    for (const ModelPort& p : model_.outputs) needs(p.name, rows);
    return gaps;
  }

  // The same value before and after the conversion.
  bool is_anchor(const std::string& name) const {
    return producer_.contains(name) && !twice_.contains(name);
  }
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
    for (size_t r = 0; r < rows_.size(); ++r)
      for (const std::string& in : rows_[r].inputs)
        if (const auto at = maker_.find(in); at != maker_.end() && !is_anchor(in))
          region_[root(r)] = root(at->second);
  }

  // The operators between what the region writes and what it reads, and whether both ends are
  // known.
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
        if (!op.is_constant[k] && !stops(op.inputs[k], reads, writes) &&
            seen.insert(op.inputs[k]).second)
          todo.push_back(op.inputs[k]);
    }
    return ops;
  }
  bool made_inside(const std::vector<size_t>& members, const std::string& name) const {
    return std::any_of(members.begin(), members.end(), [&](size_t r) {
      return std::find(rows_[r].outputs.begin(), rows_[r].outputs.end(), name) !=
             rows_[r].outputs.end();
    });
  }
  bool stops(const std::string& name, const std::set<std::string>& reads,
             const std::set<std::string>& writes) const {
    if (reads.contains(name)) return true;
    if (writes.contains(name)) return false;
    for (const Row& row : rows_)  // another region makes it
      if (std::find(row.outputs.begin(), row.outputs.end(), name) != row.outputs.end()) return true;
    return false;
  }

  // The operators that a node of a row surely computes: the one whose result it writes, and the
  // only one of its type.
  std::set<i32> operators_of(const DumpNode& node, const std::set<i32>& ops) const {
    const auto type_of = [&](i32 op) -> const std::string& {
      return model_.operators[static_cast<size_t>(op)].type;
    };
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
      const auto is_it = [&](const std::string& in) {
        return in == op.inputs[k] || in.starts_with(op.inputs[k] + "/");
      };
      if (std::none_of(node.inputs.begin(), node.inputs.end(), is_it)) return false;
    }
    return any;
  }

  // Of a row none of whose results has a name of the model: operators of its nodes' types that
  // alone read what they read.
  ListedKernels by_inputs(const Row& row) const {
    std::set<i32> ops;
    for (const DumpNode& node : row.graph->nodes) {
      std::vector<i32> same;
      const std::vector<std::string> reads = variables(node.inputs);
      for (size_t op = 0; op < model_.operators.size(); ++op)
        if (model_.operators[op].type == node.type && !reads.empty() &&
            variables(model_.operators[op].inputs) == reads)
          same.push_back(static_cast<i32>(op));
      if (same.size() != 1) return {{}, "none of its results has a name of the model", true};
      ops.insert(same[0]);
    }
    return {{ops.begin(), ops.end()}, {}, true};
  }

  // Why nothing is known of the region's kernels.
  std::string fault_of(const std::vector<size_t>& members) const {
    for (const size_t r : members)
      if (!rows_[r].fault.empty()) return "of a kernel that it works with: " + rows_[r].fault;
    for (const size_t r : members)
      for (const std::string& in : rows_[r].inputs)
        if (!producer_.contains(in) && !comes_from_somewhere(in))
          return fmt::format("no kernel of the list makes `{}`, which it reads", in);
    return {};
  }

  void resolve(size_t region, std::vector<ListedKernels>& result) const {
    std::vector<size_t> members;
    for (size_t r = 0; r < rows_.size(); ++r)
      if (root(r) == region) members.push_back(r);
    const std::string fault = fault_of(members);
    const std::optional<std::set<i32>> ops = fault.empty() ? between(members) : std::nullopt;
    if (!ops) {
      for (const size_t r : members) {
        if (fault.empty()) result[r] = by_inputs(rows_[r]);
        else result[r].open = rows_[r].fault.empty() ? fault : rows_[r].fault;
      }
      return;
    }
    const std::vector<std::set<i32>> own = named_in(members, *ops);
    std::set<i32> all = *ops, left;
    std::erase_if(
        all, [&](i32 op) { return is_same_bytes(model_.operators[static_cast<size_t>(op)].type); });
    if (all.empty()) all = *ops;
    left = all;
    bool has_unnamed = false;
    for (const std::set<i32>& named : own) {
      for (const i32 op : named) left.erase(op);
      has_unnamed |= named.empty();
    }
    for (size_t k = 0; k < members.size(); ++k) {
      std::set<i32> computed = own[k].empty() ? all : own[k];
      if (own[k].empty() || !has_unnamed)
        computed.insert(left.begin(), left.end());  // inside one of these kernels
      result[members[k]].ops.assign(computed.begin(), computed.end());
    }
  }

  // By member: the operators that its nodes name.
  std::vector<std::set<i32>> named_in(const std::vector<size_t>& members,
                                      const std::set<i32>& ops) const {
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
  std::set<std::string> constants_;      // of the model
  std::map<std::string, size_t> maker_;  // row of a tensor
  std::vector<Row> rows_;
  std::vector<size_t> region_;
};

}  // namespace

bool is_same_bytes(const std::string& type) {
  return type == "RESHAPE" || type == "SQUEEZE" || type == "EXPAND_DIMS";
}

Regions find_regions(const ConsoleDump& dump, const ModelFace& model) {
  return RegionFinder(dump, model).find();
}

}  // namespace deuteron::neutron
