// SPDX-License-Identifier: Apache-2.0
#include "compile/simplify/stream_flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ops/families.h"

namespace deuteron {
namespace {

// What becomes of an operator: it works on rows alone (`flow`), or it sees the whole window.
struct Outcome {
  std::optional<Flow> flow;  // of its results
  FlowRead read;             // of its operands that flow; a row count of 0: their fresh rows
};

class Planner {
 public:
  Planner(const Graph& graph, Diagnostics& diagnostics) : g_(graph), diagnostics_(diagnostics) {}

  std::optional<StreamPlan> plan(i64 axis, i64 frames) {
    const ValueId input = g_.inputs[0].value;
    plan_.frames = frames, plan_.window = g_.type(input).shape[axis];
    plan_.flow.resize(g_.values.size());
    plan_.reads.resize(g_.nodes.size());
    plan_.kept.resize(g_.values.size());
    plan_.flow[input] = Flow{axis, plan_.window, frames};
    for (NodeId n = 0; n < static_cast<NodeId>(g_.nodes.size()); ++n) visit(n);
    if (diagnostics_.has_errors()) return std::nullopt;
    return std::move(plan_);
  }

 private:
  const Flow* flow_of(ValueId v) const { return plan_.flow[v] ? &*plan_.flow[v] : nullptr; }

  void visit(NodeId n) {
    const Node& node = g_.nodes[n];
    std::vector<std::optional<FlowRead>>& reads = plan_.reads[n];
    reads.resize(node.inputs.size());
    const auto flows = [&](ValueId v) { return flow_of(v) != nullptr; };
    if (std::none_of(node.inputs.begin(), node.inputs.end(), flows)) return;
    const std::optional<Outcome> step = outcome(node);
    if (!step) plan_.whole.push_back(n);
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      const Flow* x = flow_of(node.inputs[k]);
      if (!x) continue;
      reads[k] = !step                 ? FlowRead{x->rows, x->rows}
                 : step->read.rows > 0 ? step->read
                                       : FlowRead{x->fresh, x->fresh};
      i64& kept = plan_.kept[node.inputs[k]];
      kept = std::max(kept, reads[k]->rows - x->fresh);
    }
    if (step)
      for (const ValueId y : node.outputs) plan_.flow[y] = step->flow;
  }

  // Nothing: it sees the whole window.
  std::optional<Outcome> outcome(const Node& node) {
    std::vector<const Type*> storage;
    const TypeView in = g_.types(node.inputs, storage);
    const OpFacts facts = facts_of(node.op);
    if (is_binary(node.op)) return binary(node);
    if (facts.storage == Storage::around_operands) return joined(node);
    const Flow* x = flow_of(node.inputs[0]);
    if (!x) return std::nullopt;
    if (const auto window = window_of(node.op, in)) return windows(node, *x, *window);
    if (is_elementwise(node.op)) return moved(*x, x->axis);
    return std::visit([&](const auto& o) { return along_axes(o, node, *x); }, node.op);
  }

  std::optional<Outcome> along_axes(const Permute& o, const Node&, const Flow& x) const {
    return moved(x, std::find(o.perm.begin(), o.perm.end(), x.axis) - o.perm.begin());
  }
  std::optional<Outcome> along_axes(const Slice& o, const Node&, const Flow& x) {
    return sliced(o.axis, o.start, o.count, o.step, x);
  }
  std::optional<Outcome> along_axes(const Pad& o, const Node& node, const Flow& x) {
    return padded(node, o.before[x.axis], o.after[x.axis], x);
  }
  std::optional<Outcome> along_axes(const Reshape&, const Node& node, const Flow& x) {
    return reshaped(g_.type(node.inputs[0]).shape, g_.type(node.outputs[0]).shape, x);
  }
  std::optional<Outcome> along_axes(const ConvTranspose2d&, const Node&, const Flow&) const {
    return std::nullopt;
  }
  // Others work along their axis, or along the last one.
  template <class T>
  std::optional<Outcome> along_axes(const T& o, const Node& node, const Flow& x) const {
    const Shape &from = g_.type(node.inputs[0]).shape, &to = g_.type(node.outputs[0]).shape;
    if constexpr (requires { o.axis; }) {
      if (node.inputs.size() == 1 && from == to && o.axis != x.axis) return moved(x, x.axis);
    } else {
      const Family family = facts_of(node.op).family;
      if ((family == Family::layer || family == Family::by_channel) &&
          x.axis != static_cast<i64>(from.size()) - 1)
        return moved(x, x.axis);
    }
    return std::nullopt;
  }

  static Outcome moved(Flow x, i64 axis) {
    x.axis = axis;
    return {x, {}};
  }

  // Operands that do not flow are the same for every row.
  std::optional<Outcome> binary(const Node& node) const {
    const i64 rank = g_.type(node.outputs[0]).rank();
    std::optional<Flow> all;
    for (const ValueId v : node.inputs)
      if (const Flow* x = flow_of(v)) {
        const Flow own{x->axis + rank - g_.type(v).rank(), x->rows, x->fresh};
        if (all && (all->axis != own.axis || all->rows != own.rows || all->fresh != own.fresh))
          return std::nullopt;
        all = own;
      }
    for (const ValueId v : node.inputs) {
      const i64 axis = all->axis - (rank - g_.type(v).rank());
      if (!flow_of(v) && axis >= 0 && g_.type(v).shape[axis] != 1) return std::nullopt;
    }
    return Outcome{all, {}};
  }

  std::optional<Outcome> joined(const Node& node) const {
    const Flow* first = flow_of(node.inputs[0]);
    const Shape &from = g_.type(node.inputs[0]).shape, &to = g_.type(node.outputs[0]).shape;
    for (const ValueId v : node.inputs) {
      const Flow* x = flow_of(v);
      if (!x || !first || x->axis != first->axis || x->fresh != first->fresh) return std::nullopt;
    }
    if (from[first->axis] != to[first->axis]) return std::nullopt;
    return moved(*first, first->axis);
  }

  // The axis that has as many elements before it, along it and behind it.
  static std::optional<Outcome> reshaped(const Shape& from, const Shape& to, const Flow& x) {
    const i64 before = numel(std::span(from).first(static_cast<size_t>(x.axis)));
    i64 so_far = 1;
    for (size_t k = 0; k < to.size(); so_far *= to[k++])
      if (so_far == before && to[k] == x.rows) return moved(x, static_cast<i64>(k));
    return std::nullopt;
  }

  static std::optional<Outcome> sliced(i64 axis, i64 start, i64 count, i64 step, const Flow& x) {
    if (axis != x.axis) return moved(x, x.axis);
    const i64 behind = x.rows - start - count;
    if (step != 1 || count < x.fresh) return std::nullopt;
    return Outcome{Flow{x.axis, count, x.fresh}, {x.fresh + behind, x.fresh}};
  }

  std::optional<Outcome> padded(const Node& node, i64 before, i64 after, const Flow& x) {
    if (before > 0 || after > 0) return refuse_padding(node, before, after), moved(x, x.axis);
    if (before < 0 || after < 0) return std::nullopt;
    return moved(x, x.axis);
  }

  std::optional<Outcome> windows(const Node& node, const Flow& x, const ImageWindow& image) {
    if (x.axis != 1 && x.axis != 2) return std::nullopt;
    const AxisWindow& w = x.axis == 1 ? image.rows : image.columns;
    const i64 rows = g_.type(node.outputs[0]).shape[x.axis], span = (w.kernel - 1) * w.dilation + 1;
    const i64 unused = x.rows + w.pad -
                       ((rows - 1) * w.stride + span);  // behind the last window; below 0: padding
    if (rows == 1) return std::nullopt;
    if (w.pad > 0 || unused < 0)
      return refuse_padding(node, w.pad, std::max<i64>(-unused, 0)),
             moved({x.axis, rows, 1}, x.axis);
    const i64 fresh = x.fresh / w.stride;
    if (x.fresh % w.stride != 0 || fresh > rows) {
      refuse(node,
             "has a stride that does not divide the rows of a step, or fewer rows than a step",
             fmt::format("{} rows a step", x.fresh),
             fmt::format("a multiple of {}, at most {}", w.stride, rows * w.stride),
             "stream.frames", "give --stream AXIS=FRAMES another number of frames");
      return moved({x.axis, rows, 1}, x.axis);
    }
    const i64 count = (fresh - 1) * w.stride + span;
    return Outcome{Flow{x.axis, rows, fresh}, {count + unused, count}};
  }

  // A row beside the edge of the window is another one as soon as it is in the middle.
  void refuse_padding(const Node& node, i64 before, i64 after) {
    refuse(node,
           "pads along the axis that flows: the rows at the window's edges are other ones in every "
           "step",
           fmt::format("{} before, {} behind", before, after), "0, 0", "stream.padding",
           "train the network without padding along that axis (`valid` windows)");
  }

  void refuse(const Node& node, const char* what, std::string measured, std::string limit,
              const char* rule, const char* fix) {
    diagnostics_.add({Severity::error, fmt::format("{}: {}", g_.name, describe(g_, node)), what,
                      std::move(measured), std::move(limit), rule, fix});
  }

  const Graph& g_;
  Diagnostics& diagnostics_;
  StreamPlan plan_;
};

}  // namespace

std::optional<StreamPlan> plan_stream(const Graph& g, i64 axis, i64 frames,
                                      Diagnostics& diagnostics) {
  return Planner(g, diagnostics).plan(axis, frames);
}

i64 least_frames(const Graph& g, i64 axis) {
  const i64 window = g.type(g.inputs[0].value).shape[axis];
  for (i64 frames = 1; frames < window; ++frames) {
    Diagnostics said;
    plan_stream(g, axis, frames, said);
    const auto& list = said.list();
    if (std::none_of(list.begin(), list.end(),
                     [](const Diagnostic& d) { return d.rule == "stream.frames"; }))
      return frames;
  }
  return 0;
}

}  // namespace deuteron
