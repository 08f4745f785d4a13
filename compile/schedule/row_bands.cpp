// SPDX-License-Identifier: Apache-2.0
// The graph that computes operators band by band, and the chains of operators that can be.
#include <algorithm>
#include <map>

#include "compile/lower/call_node.h"
#include "compile/schedule/row_plan.h"
#include "compile/schedule/split_rows.h"
#include "ir/rewrite/patch.h"
#include "ops/rows.h"

namespace deuteron {
namespace {

class BandWriter {
 public:
  BandWriter(const Graph& from, const Uses& uses, Graph& to, bool for_stock,
             std::vector<NodeId>& made_from)
      : from_(from), uses_(uses), to_(to), for_stock_(for_stock), made_from_(made_from) {}

  void write(const RowSplit& split, const RowPlan& plan) {
    const NodeId last = split.chain.back();
    const ValueId y = from_.nodes[last].outputs[0];
    std::vector<ValueId> parts;
    for (size_t turn = 0; turn < plan.bands.size(); ++turn) {
      suffix_ = ".rows" + std::to_string(split.upward ? plan.bands.size() - 1 - turn : turn);
      for (const RowStep& step : plan.bands[turn]) run(step, split.upward);
      parts.push_back(held_.at(y).value);
    }
    if (split.upward) std::reverse(parts.begin(), parts.end());
    to_.nodes.push_back({join_rows(axis_of(y)), std::move(parts), {y}, from_.nodes[last].origin});
    made_from_.push_back(last);
    held_.clear();
  }

 private:
  struct Held {
    ValueId value = -1;
    Rows rows;
  };

  i64 axis_of(ValueId v) const { return band_axis(from_.type(v).shape); }

  Type type_of_rows(ValueId v, i64 rows) const {
    Type type = from_.type(v);
    type.shape[axis_of(v)] = rows;
    return type;
  }

  ValueId add(Op op, std::vector<ValueId> inputs, ValueId like, i64 rows, NodeId source,
              const char* what = "") {
    Type type = type_of_rows(like, rows);
    std::string name = from_.values[like].name + suffix_ + what;
    const ValueId v = to_.add_node(std::move(op), std::move(inputs), {std::move(type)},
                                   std::move(name), from_.nodes[source].origin);
    made_from_.push_back(source);
    return v;
  }

  ValueId part_of(const Held& held, Rows rows, ValueId like, NodeId source) {
    if (held.rows == rows) return held.value;
    return add(take_rows(axis_of(like), rows.first - held.rows.first, rows.count()), {held.value},
               like, rows.count(), source);
  }

  // Of an operand of the node: rows of the whole, or of what the chain holds of it.
  ValueId operand_rows(ValueId v, Rows rows, NodeId node) {
    const ValueId whole = behind_row_views(from_, uses_, v);
    const auto of_chain = held_.find(whole);
    if (of_chain == held_.end()) return part_of({v, {0, rows_of(from_.type(v))}}, rows, v, node);
    const ValueId part = part_of(of_chain->second, rows, whole, node);
    return whole == v
               ? part
               : add(Reshape{type_of_rows(v, rows.count()).shape}, {part}, v, rows.count(), node);
  }

  ValueId copied(ValueId rows, NodeId source) {
    const ValueId copy = add_copy(to_, rows, for_stock_, from_.nodes[source].origin,
                                  to_.values[rows].name + ".kept");
    made_from_.push_back(source);
    return copy;
  }

  void run(const RowStep& step, bool upward) {
    const Node& node = from_.nodes[step.node];
    const ValueId y = node.outputs[0];
    std::vector<ValueId> parts;
    if (step.kept.count() > 0)
      parts.push_back(copied(part_of(held_.at(y), step.kept, y, step.node), step.node));
    std::vector<ValueId> inputs = node.inputs;
    for (ValueId& v : inputs) {
      if (!has_rows(from_, node, v)) continue;
      v = operand_rows(v, needed_rows(from_, node, v, step.computed).rows, step.node);
    }
    parts.push_back(add(*op_of_rows(from_, node, step.computed), std::move(inputs), y,
                        step.computed.count(), step.node));
    if (upward) std::reverse(parts.begin(), parts.end());
    const ValueId held = parts.size() == 1 ? parts[0]
                                           : add(join_rows(axis_of(y)), std::move(parts), y,
                                                 step.held().count(), step.node, ".held");
    held_[y] = {held, step.held()};
  }

  const Graph& from_;
  const Uses& uses_;
  Graph& to_;
  const bool for_stock_;
  std::vector<NodeId>& made_from_;
  std::map<ValueId, Held> held_;  // what there is of results of the chain's operators
  std::string suffix_;
};

}  // namespace

// Whether bands of the node go along the axis of those of its operand: not where padding makes
// several rows of one.
static bool runs_along_its_axis(const Graph& g, const Node& node, ValueId operand) {
  return band_axis(g.type(operand).shape) == band_axis(g.type(node.outputs[0]).shape);
}

// The operand of the chain that is made last, by an operator of whose result nobody else reads.
static NodeId next_before(const Graph& g, const Uses& uses, const std::vector<NodeId>& chain) {
  const auto is_inside = [&](NodeId n) {
    return std::find(chain.begin(), chain.end(), n) != chain.end();
  };
  NodeId best = -1;
  for (const NodeId n : chain)
    for (const ValueId v : g.nodes[n].inputs) {
      const ValueId whole = behind_row_views(g, uses, v);
      const NodeId maker = uses.producer[whole];
      if (maker <= best || is_inside(maker) || !has_rows(g, g.nodes[n], v) ||
          !runs_along_its_axis(g, g.nodes[n], v))
        continue;
      const std::vector<RowReader> readers = row_readers(g, uses, whole);
      const bool dies = std::all_of(readers.begin(), readers.end(),
                                    [&](const RowReader& r) { return is_inside(r.node); });
      if (dies && can_be_split(g, g.nodes[maker])) best = maker;
    }
  return best;
}

std::vector<NodeId> chain_up_to(const Graph& g, const Uses& uses, NodeId last, size_t most) {
  if (last < 0 || !can_be_split(g, g.nodes[last])) return {};
  std::vector<NodeId> chain{last};
  while (chain.size() < most) {
    const NodeId before = next_before(g, uses, chain);
    if (before < 0) break;
    chain.insert(chain.begin(), before);
  }
  return chain;
}

// By node, whether bands take its place: it is one of a chain, or a view of what is alive in bands
// alone.
static std::vector<bool> replaced_nodes(const Graph& g, const Uses& uses,
                                        const std::vector<RowSplit>& splits) {
  std::vector<bool> replaced(g.nodes.size(), false), is_whole(g.nodes.size(), true);
  for (const RowSplit& s : splits)
    for (const NodeId n : s.chain) replaced[n] = true, is_whole[n] = n == s.chain.back();
  for (size_t n = 0; n < g.nodes.size(); ++n) {
    if (!is_view_of_rows(g, g.nodes[n])) continue;
    const NodeId maker = uses.producer[g.nodes[n].inputs[0]];
    if (maker >= 0 && !is_whole[maker]) replaced[n] = true, is_whole[n] = false;
  }
  return replaced;
}

std::optional<Graph> with_bands(const Graph& g, const Uses& uses,
                                const std::vector<RowSplit>& splits, bool for_stock,
                                std::vector<NodeId>* made_from) {
  Graph to = g;
  to.nodes.clear();
  std::vector<NodeId> sources;
  const std::vector<bool> replaced = replaced_nodes(g, uses, splits);
  BandWriter writer(g, uses, to, for_stock, sources);
  for (NodeId n = 0; n < static_cast<NodeId>(g.nodes.size()); ++n) {
    if (!replaced[n]) {
      to.nodes.push_back(g.nodes[n]);
      sources.push_back(n);
      continue;
    }
    for (const RowSplit& s : splits) {
      if (s.chain.back() != n) continue;
      const std::optional<RowPlan> plan = plan_rows(g, uses, s);
      if (!plan) return std::nullopt;
      writer.write(s, *plan);
    }
  }
  if (made_from) *made_from = std::move(sources);
  else drop_unreferenced_values(to);
  return to;
}

}  // namespace deuteron
