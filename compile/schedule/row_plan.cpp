// SPDX-License-Identifier: Apache-2.0
// A chain is walked from its last operator to its first for each band: what the readers of a result
// compute says which rows of it they need. With rows kept, only those are computed that no band
// before has; without, all of them again.
#include "compile/schedule/row_plan.h"

#include <algorithm>

#include "ops/families.h"

namespace deuteron {
namespace {

// Whether parts along the axis of bands are images as well.
bool has_several_rows(const Type& t) {
  return t.rank() > 2 && t.shape[0] == 1 && band_axis(t.shape) + 1 < t.rank() && rows_of(t) > 1;
}
bool is_by_element(const Op& op) { return is_elementwise(op) || is_binary(op); }

class RowPlanner {
 public:
  RowPlanner(const Graph& g, const Uses& uses, const RowSplit& split)
      : g_(g),
        split_(split),
        chain_(split.chain),
        steps_(chain_.size()),
        held_(chain_.size()),
        readers_(chain_.size()) {
    for (size_t k = 0; k < chain_.size(); ++k) {
      const i64 rows = rows_of_step(k);
      steps_[k].node = chain_[k];
      next_.push_back(split_.upward ? rows : 0);
      for (const RowReader& r : row_readers(g_, uses, result(k))) {
        const auto at = std::find(chain_.begin(), chain_.end(), r.node);
        if (at != chain_.end())
          readers_[k].push_back({static_cast<size_t>(at - chain_.begin()), r.operand});
      }
      std::sort(readers_[k].begin(), readers_[k].end(),
                [](const Reader& a, const Reader& b) { return a.step < b.step; });
      macs_of_a_row_.push_back(macs_of(g_, g_.nodes[chain_[k]]) / rows);
      bytes_of_a_row_.push_back(g_.type(result(k)).bytes() / rows);
    }
  }

  std::optional<RowPlan> run() {
    const size_t last = chain_.size() - 1;
    const i64 rows = rows_of_step(last);
    if (split_.bands < 2 || split_.bands > rows) return std::nullopt;
    for (i64 turn = 0; turn < split_.bands; ++turn) {
      const i64 k = split_.upward ? split_.bands - 1 - turn : turn;
      steps_[last].computed = {rows * k / split_.bands, rows * (k + 1) / split_.bands};
      if (!split_.keep) std::fill(held_.begin(), held_.end(), Rows{});
      if (!plan_band()) return std::nullopt;
    }
    return std::move(plan_);
  }

 private:
  struct Reader {
    size_t step;
    ValueId operand;
  };

  ValueId result(size_t k) const { return g_.nodes[chain_[k]].outputs[0]; }
  i64 rows_of_step(size_t k) const { return rows_of(g_.type(result(k))); }

  // Of the rows that are not computed yet, the one that comes next.
  i64 next_row(size_t k) const { return split_.upward ? next_[k] - 1 : next_[k]; }
  bool is_done(size_t k) const { return next_row(k) < 0 || next_row(k) >= rows_of_step(k); }

  Rows needed(const Reader& reader, Rows out) const {
    return needed_rows(g_, g_.nodes[chain_[reader.step]], reader.operand, out).rows;
  }

  // Of the held rows of chain_[k], those that readers have not done with.
  Rows awaited(size_t k) const {
    Rows r = held_[k];
    i64 first = r.end, end = r.first;
    for (const Reader& reader : readers_[k]) {
      if (is_done(reader.step)) continue;
      const Rows next = needed(reader, {next_row(reader.step), next_row(reader.step) + 1});
      first = std::min(first, next.first), end = std::max(end, next.end);
    }
    if (split_.upward) r.end = std::min(r.end, std::max(end, r.first));
    else r.first = std::max(r.first, std::min(first, r.end));
    return r;
  }

  bool plan_band() {
    for (size_t k = chain_.size() - 1; k-- > 0;)
      if (!rows_for_readers(k)) return false;
    plan_.bands.emplace_back();
    for (size_t k = 0; k < chain_.size(); ++k) {
      const RowStep& step = steps_[k];
      if (step.computed.count() == 0) continue;
      if (!op_of_rows(g_, g_.nodes[step.node], step.computed)) return false;
      run_step(k, step);
      plan_.bands.back().push_back(step);
    }
    return true;
  }

  // next_ is that of the band before: readers have not run yet.
  bool rows_for_readers(size_t k) {
    RowStep& step = steps_[k];
    step.computed = step.kept = {};
    Rows need{rows_of_step(k), 0};
    for (const Reader& reader : readers_[k]) {
      if (steps_[reader.step].computed.count() == 0) continue;
      const Rows rows = needed(reader, steps_[reader.step].computed);
      if (rows.count() < 1) return false;
      need = {std::min(need.first, rows.first), std::max(need.end, rows.end)};
    }
    const Rows held = held_[k];
    if (need.count() < 1) return true;  // every reader has what it reads
    if (held.count() == 0) {
      step.computed = need;
      return true;
    }
    step.kept = awaited(k);
    if (step.kept.count() < 1) step.kept = {};
    const bool is_joined = step.kept.count() > 0;  // then no row may be left out between the two
    if (split_.upward)
      step.computed = {need.first, is_joined ? held.first : std::min(need.end, held.first)};
    else step.computed = {is_joined ? held.end : std::max(need.first, held.end), need.end};
    if (step.computed.count() < 1) step.computed = step.kept = {};
    return true;
  }

  void run_step(size_t k, const RowStep& step) {
    const bool is_last = k + 1 == chain_.size();
    if (!is_last) held_[k] = step.held();
    next_[k] = split_.upward ? step.computed.first : step.computed.end;
    ++plan_.calls;
    plan_.macs += macs_of_a_row_[k] * step.computed.count();
    if (step.kept.count() > 0)
      ++plan_.copies, plan_.copied_bytes += step.kept.count() * bytes_of_a_row_[k];
    i64 bytes = is_last ? 0 : step.held().count() * bytes_of_a_row_[k];
    for (size_t other = 0; other + 1 < chain_.size(); ++other)
      if (other != k) bytes += rows_alive(other, k) * bytes_of_a_row_[other];
    plan_.between = std::max(plan_.between, bytes);
  }

  // Of what chain_[k] holds, while chain_[running] runs: all that it reads, else what somebody will
  // read.
  i64 rows_alive(size_t k, size_t running) const {
    const auto& readers = readers_[k];
    if (std::any_of(readers.begin(), readers.end(),
                    [&](const Reader& r) { return r.step == running; }))
      return held_[k].count();
    if (split_.keep) return std::max<i64>(awaited(k).count(), 0);
    return !readers.empty() && k < running && running < readers.back().step ? held_[k].count() : 0;
  }

  const Graph& g_;
  const RowSplit& split_;
  const std::vector<NodeId>& chain_;
  // By operator of the chain.
  std::vector<RowStep> steps_;  // of this band
  std::vector<Rows> held_;
  std::vector<std::vector<Reader>> readers_;
  std::vector<i64> next_, macs_of_a_row_, bytes_of_a_row_;
  RowPlan plan_;
};

}  // namespace

i64 rows_of(const Type& t) { return t.shape[band_axis(t.shape)]; }

bool is_view_of_rows(const Graph& g, const Node& node) {
  const OpFacts facts = facts_of(node.op);
  if (facts.values != Values::same || facts.storage != Storage::in_operand) return false;
  const Type &x = g.type(node.inputs[0]), &y = g.type(node.outputs[0]);
  return has_several_rows(x) && has_several_rows(y) && rows_of(x) == rows_of(y);
}

ValueId behind_row_views(const Graph& g, const Uses& uses, ValueId v) {
  while (uses.producer[v] >= 0 && is_view_of_rows(g, g.nodes[uses.producer[v]]))
    v = g.nodes[uses.producer[v]].inputs[0];
  return v;
}

std::vector<RowReader> row_readers(const Graph& g, const Uses& uses, ValueId v) {
  std::vector<RowReader> readers;
  if (uses.output_uses[v] > 0) readers.push_back({-1, v});
  for (const NodeId n : uses.readers[v]) {
    if (!is_view_of_rows(g, g.nodes[n])) {
      readers.push_back({n, v});
      continue;
    }
    const std::vector<RowReader> of_view = row_readers(g, uses, g.nodes[n].outputs[0]);
    readers.insert(readers.end(), of_view.begin(), of_view.end());
  }
  return readers;
}

bool has_rows(const Graph& g, const Node& node, ValueId operand) {
  if (g.is_constant(operand)) return false;
  return is_by_element(node.op) ? g.type(operand).shape == g.type(node.outputs[0]).shape
                                : operand == node.inputs[0];
}

bool can_be_split(const Graph& g, const Node& node) {
  if (node.inputs.empty() || node.outputs.size() != 1) return false;
  const Type& y = g.type(node.outputs[0]);
  if (!has_several_rows(y)) return false;
  if (!is_by_element(node.op)) {
    if (g.is_constant(node.inputs[0])) return false;
    if (node.inputs.size() > 1 && !g.is_constant(node.inputs[1])) return false;
    std::vector<const Type*> in, out;
    return has_bands(node.op, g.types(node.inputs, in), g.types(node.outputs, out));
  }
  const size_t from_end = y.shape.size() - static_cast<size_t>(band_axis(y.shape));
  for (const ValueId v : node.inputs) {
    const Shape& s = g.type(v).shape;
    const bool is_for_every_row = s.size() < from_end || s[s.size() - from_end] == 1;
    if (!has_rows(g, node, v) && !is_for_every_row) return false;
  }
  return true;
}

NeededRows needed_rows(const Graph& g, const Node& node, ValueId operand, Rows out) {
  std::vector<const Type*> in;
  const i64 axis = band_axis(g.type(node.outputs[0]).shape);
  const AxisWindow w =
      window_of(node.op, g.types(node.inputs, in)).value_or(ImageWindow{}).along(axis);
  const i64 extent = g.type(operand).shape[axis];
  const i64 first = out.first * w.stride - w.pad,
            end = (out.end - 1) * w.stride - w.pad + (w.kernel - 1) * w.dilation + 1;
  return {{std::max<i64>(first, 0), std::min(end, extent)},
          std::max<i64>(-first, 0),
          std::max<i64>(end - extent, 0)};
}

std::optional<Op> op_of_rows(const Graph& g, const Node& node, Rows out) {
  if (is_by_element(node.op)) return node.op;
  const NeededRows needed = needed_rows(g, node, node.inputs[0], out);
  if (needed.rows.count() < 1) return std::nullopt;
  std::vector<const Type*> in_types, out_types;
  const RowBand band{needed.rows.count(), out.count(), needed.pad_before, needed.pad_after};
  return band_of(node.op, g.types(node.inputs, in_types), g.types(node.outputs, out_types), band);
}

std::optional<RowPlan> plan_rows(const Graph& g, const Uses& uses, const RowSplit& split) {
  return RowPlanner(g, uses, split).run();
}

}  // namespace deuteron
