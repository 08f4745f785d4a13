// How an operator is computed band by band: which rows of its operands a band of its result needs, and the graph that does so.
#include <algorithm>

#include "ops/families.h"
#include "ops/rows.h"
#include "passes/split_rows.h"
#include "rewrite/patch.h"

namespace deuteron {
namespace {

struct Rows {
  i64 first, end;
  i64 count() const { return end - first; }
};

bool is_image(const Type& t) { return t.rank() == 4 && t.shape[0] == 1; }

bool is_by_element(const Op& op) { return is_elementwise(op) || is_binary(op); }

bool can_be_split(const Graph& g, const Node& node) {
  if (node.inputs.empty() || node.outputs.size() != 1) return false;
  const Type& y = g.type(node.outputs[0]);
  if (!is_image(y) || y.shape[1] < 2) return false;
  if (!is_by_element(node.op)) {
    if (!is_image(g.type(node.inputs[0])) || g.is_constant(node.inputs[0])) return false;
    if (node.inputs.size() > 1 && !g.is_constant(node.inputs[1])) return false;
    std::vector<const Type*> in, out;
    return has_bands(node.op, g.types(node.inputs, in), g.types(node.outputs, out));
  }
  for (const ValueId v : node.inputs) {
    const Shape& s = g.type(v).shape;
    const bool has_rows = s == y.shape && !g.is_constant(v);
    const bool is_for_every_row = s.size() < 3 || (s.size() <= 4 && s[s.size() - 3] == 1);
    if (!has_rows && !is_for_every_row) return false;
  }
  return true;
}

// The operand that a chain comes through: the one that is made last.
ValueId main_operand(const Graph& g, const Uses& uses, const Node& node) {
  ValueId best = -1;
  for (const ValueId v : node.inputs)
    if (!g.is_constant(v) && g.type(v).rank() == 4 && g.type(v).shape[1] > 1 && uses.producer[v] >= 0 &&
        (best < 0 || uses.producer[v] > uses.producer[best]) && uses.has_single_reader(v))
      best = v;
  return best;
}

// Rows of the operand that these rows of the result need, without padding; and that padding.
struct Needed {
  Rows rows;
  i64 pad_before = 0, pad_after = 0;
};
std::optional<Needed> needed_of(const Graph& g, const Node& node, ValueId operand, Rows out) {
  std::vector<const Type*> in;
  const AxisWindow w = window_of(node.op, g.types(node.inputs, in)).value_or(ImageWindow{}).rows;
  const i64 extent = g.type(operand).shape[1];
  const i64 first = out.first * w.stride - w.pad, end = (out.end - 1) * w.stride - w.pad + (w.kernel - 1) * w.dilation + 1;
  Needed n{{std::max<i64>(first, 0), std::min(end, extent)}, std::max<i64>(-first, 0), std::max<i64>(end - extent, 0)};
  if (n.rows.count() < 1) return std::nullopt;
  return n;
}

class BandWriter {
 public:
  BandWriter(const Graph& from, Graph& to, std::vector<NodeId>& made_from) : from_(from), to_(to), made_from_(made_from) {}

  bool write(const RowSplit& split) {
    const Node& last = from_.nodes[split.chain.back()];
    const ValueId y = last.outputs[0];
    const i64 rows = from_.type(y).shape[1];
    if (split.bands < 2 || split.bands > rows) return false;
    std::vector<ValueId> parts(static_cast<size_t>(split.bands));
    for (i64 turn = 0; turn < split.bands; ++turn) {
      const i64 k = split.upward ? split.bands - 1 - turn : turn;
      suffix_ = ".rows" + std::to_string(k);
      const std::optional<ValueId> part = band(split, split.chain.size() - 1, {rows * k / split.bands, rows * (k + 1) / split.bands});
      if (!part) return false;
      parts[static_cast<size_t>(k)] = *part;
    }
    to_.nodes.push_back({join_rows(1), std::move(parts), {y}, last.origin});
    made_from_.push_back(split.chain.back());
    return true;
  }

 private:
  ValueId add(Op op, std::vector<ValueId> inputs, ValueId like, i64 rows, NodeId source) {
    Type type = from_.type(like);
    type.shape[1] = rows;
    const ValueId v =
        to_.add_node(std::move(op), std::move(inputs), {std::move(type)}, from_.values[like].name + suffix_, from_.nodes[source].origin);
    made_from_.push_back(source);
    return v;
  }

  ValueId sliced(ValueId v, Rows rows, NodeId source) {
    if (rows.count() == from_.type(v).shape[1]) return v;
    return add(take_rows(1, rows.first, rows.count()), {v}, v, rows.count(), source);
  }

  // These rows of the result of chain[at].
  std::optional<ValueId> band(const RowSplit& split, size_t at, Rows out) {
    const NodeId n = split.chain[at];
    const Node& node = from_.nodes[n];
    const ValueId above = at > 0 ? from_.nodes[split.chain[at - 1]].outputs[0] : -1;
    std::vector<ValueId> inputs = node.inputs;
    Op op = node.op;
    for (ValueId& v : inputs) {
      const bool windowed = v == node.inputs[0] && !is_by_element(node.op);
      if (!windowed && (!is_by_element(node.op) || from_.type(v).shape != from_.type(node.outputs[0]).shape)) continue;
      const std::optional<Needed> needed = needed_of(from_, node, v, out);
      if (!needed) return std::nullopt;
      if (windowed) {
        std::vector<const Type*> in_types, out_types;
        const RowBand rows{needed->rows.count(), out.count(), needed->pad_before, needed->pad_after};
        std::optional<Op> part = band_of(node.op, from_.types(node.inputs, in_types), from_.types(node.outputs, out_types), rows);
        if (!part) return std::nullopt;
        op = *std::move(part);
      }
      if (v == above) {
        const std::optional<ValueId> part = band(split, at - 1, needed->rows);
        if (!part) return std::nullopt;
        v = *part;
      } else {
        v = sliced(v, needed->rows, n);
      }
    }
    return add(std::move(op), std::move(inputs), node.outputs[0], out.count(), n);
  }

  const Graph& from_;
  Graph& to_;
  std::vector<NodeId>& made_from_;
  std::string suffix_;
};

}  // namespace

std::vector<NodeId> chain_through(const Graph& g, const Uses& uses, NodeId node) {
  if (node < 0 || !can_be_split(g, g.nodes[node])) return {};
  std::vector<NodeId> chain{node};
  for (;;) {
    const ValueId v = main_operand(g, uses, g.nodes[chain.front()]);
    if (v < 0 || !can_be_split(g, g.nodes[uses.producer[v]])) break;
    chain.insert(chain.begin(), uses.producer[v]);
  }
  for (;;) {
    const ValueId y = g.nodes[chain.back()].outputs[0];
    if (!uses.has_single_reader(y)) break;
    const NodeId reader = uses.readers[y][0];
    if (!can_be_split(g, g.nodes[reader]) || main_operand(g, uses, g.nodes[reader]) != y) break;
    chain.push_back(reader);
  }
  return chain;
}

std::optional<Graph> with_bands(const Graph& g, const std::vector<RowSplit>& splits, std::vector<NodeId>* made_from) {
  Graph to = g;
  to.nodes.clear();
  std::vector<NodeId> sources;
  std::vector<bool> inside(g.nodes.size(), false);
  for (const RowSplit& s : splits)
    for (const NodeId n : s.chain) inside[n] = true;
  BandWriter writer(g, to, sources);
  for (NodeId n = 0; n < static_cast<NodeId>(g.nodes.size()); ++n) {
    if (!inside[n]) {
      to.nodes.push_back(g.nodes[n]);
      sources.push_back(n);
      continue;
    }
    for (const RowSplit& s : splits)
      if (s.chain.back() == n && !writer.write(s)) return std::nullopt;
  }
  if (made_from) *made_from = std::move(sources);
  else drop_unreferenced_values(to);
  return to;
}

}  // namespace deuteron
