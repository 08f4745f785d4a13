// How an operator is computed band by band: which rows of its operands a band of its result needs, and the graph that does so.
#include <algorithm>

#include "ops/families.h"
#include "passes/split_rows.h"
#include "rewrite/kernel_forms.h"
#include "rewrite/patch.h"

namespace deuteron {
namespace {

struct Rows {
  i64 first, end;
  i64 count() const { return end - first; }
};

bool is_image(const Type& t) { return t.rank() == 4 && t.shape[0] == 1; }

// The window along the rows of an operator that has one, else one row for one.
struct RowWindow {
  i64 kernel = 1, stride = 1, dilation = 1, pad = 0;
};
RowWindow window_of(const Graph& g, const Node& node) {
  if (const Conv2d* c = std::get_if<Conv2d>(&node.op))
    return {g.type(node.inputs[1]).shape[1], c->stride.h, c->dilation.h, c->pad_before.h};
  if (const MaxPool2d* p = std::get_if<MaxPool2d>(&node.op)) return {p->kernel.h, p->stride.h, p->dilation.h, 0};
  if (const AvgPool2d* p = std::get_if<AvgPool2d>(&node.op)) return {p->kernel.h, p->stride.h, 1, 0};
  return {};
}

bool is_by_element(const Op& op) {
  return std::holds_alternative<Clamp>(op) || std::holds_alternative<Unary>(op) || std::holds_alternative<Pointwise>(op) ||
         std::holds_alternative<Quantize>(op) || std::holds_alternative<Dequantize>(op) || is_binary(op);
}

// A pool's padding is the same on both sides, so a band at the border cannot have it on one; a window that hangs over the end likewise.
template <class Pool>
bool reads_whole_windows(const Pool& p, i64 dilation, const Shape& x, const Shape& y) {
  return p.pad.h == 0 && (y[1] - 1) * p.stride.h + (p.kernel.h - 1) * dilation + 1 <= x[1];
}

bool can_be_split(const Graph& g, const Node& node) {
  if (node.inputs.empty() || node.outputs.size() != 1) return false;
  const Type& y = g.type(node.outputs[0]);
  if (!is_image(y) || y.shape[1] < 2) return false;
  if (const Conv2d* c = std::get_if<Conv2d>(&node.op)) {
    const Shape& w = g.type(node.inputs[1]).shape;
    // Stock kernels for 1x1 take the result's extents from the operand's: padding would be lost once a band has it on one side only.
    const bool padded = c->pad_before.h != 0 || c->pad_after.h != 0;
    return is_image(g.type(node.inputs[0])) && !g.is_constant(node.inputs[0]) && g.is_constant(node.inputs[1]) &&
           !(w[1] == 1 && w[2] == 1 && padded);
  }
  const Shape& x = g.type(node.inputs[0]).shape;
  if (const MaxPool2d* p = std::get_if<MaxPool2d>(&node.op)) return reads_whole_windows(*p, p->dilation.h, x, y.shape);
  if (const AvgPool2d* p = std::get_if<AvgPool2d>(&node.op)) return reads_whole_windows(*p, 1, x, y.shape);
  if (!is_by_element(node.op)) return false;
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
  const RowWindow w = window_of(g, node);
  const i64 extent = g.type(operand).shape[1];
  const i64 first = out.first * w.stride - w.pad, end = (out.end - 1) * w.stride - w.pad + (w.kernel - 1) * w.dilation + 1;
  Needed n{{std::max<i64>(first, 0), std::min(end, extent)}, std::max<i64>(-first, 0), std::max<i64>(end - extent, 0)};
  if (n.rows.count() < 1) return std::nullopt;
  // One row of pixels would take stock firmware's row-wise kernel: choose_kernels.cpp, row_to_column.
  if (const Conv2d* c = std::get_if<Conv2d>(&node.op); c && n.rows.count() == 1 && extent > 1 && g.type(node.inputs[1]).shape[2] > 1)
    return std::nullopt;
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
    std::vector<ValueId> parts;
    for (i64 k = 0; k < split.bands; ++k) {
      suffix_ = ".rows" + std::to_string(k);
      const std::optional<ValueId> part = band(split, split.chain.size() - 1, {rows * k / split.bands, rows * (k + 1) / split.bands});
      if (!part) return false;
      parts.push_back(*part);
    }
    to_.nodes.push_back({Concat{1}, std::move(parts), {y}, last.origin});
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
    return add(Slice{1, rows.first, rows.count(), 1}, {v}, v, rows.count(), source);
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
      if (Conv2d* conv = std::get_if<Conv2d>(&op)) {
        conv->pad_before.h = needed->pad_before, conv->pad_after.h = needed->pad_after;
        Shape x = from_.type(v).shape, y = from_.type(node.outputs[0]).shape;
        x[1] = needed->rows.count(), y[1] = out.count();
        if (!takes_windows(*conv, x, from_.type(node.inputs[1]).shape, y)) return std::nullopt;
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
