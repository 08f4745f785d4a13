// SPDX-License-Identifier: Apache-2.0
// --stream: a network over a window becomes one step, which computes what is new and keeps what the
// next step reads again. Behind the step the window has moved on by its frames, and the results are
// those of the whole window at its new place, bit for bit.
//   conv2d(x)   becomes   rows = concat(kept, x); conv2d(rows); kept of the next step: the last
//   rows
#include "compile/simplify/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/tensor/elements.h"
#include "compile/compilation.h"
#include "compile/options.h"
#include "compile/pass.h"
#include "compile/simplify/stream_flow.h"
#include "ir/states.h"
#include "ops/families.h"
#include "ops/rows.h"

namespace deuteron {
namespace {

// Of operators that say an extent of their result: that extent is `rows` now.
struct FitShape {
  i64 axis, rows;
  void operator()(Slice& o) const {
    if (o.axis == axis) o.start = 0, o.count = rows;
  }
  void operator()(Reshape& o) const { o.shape[axis] = rows; }
  void operator()(Expand& o) const { o.shape[axis] = rows; }
  template <class T>
  void operator()(T&) const {}
};

class Stepper {
 public:
  Stepper(Graph& graph, const StreamPlan& plan) : g_(graph), plan_(plan) {}

  // The nodes of the step. Values keep their ids: what flows has its fresh rows alone.
  i64 rewrite() {
    std::vector<Node> nodes;
    nodes.swap(g_.nodes);
    enter(g_.inputs[0].value, first_reader(nodes, g_.inputs[0].value));
    for (size_t n = 0; n < nodes.size(); ++n) {
      Node& node = nodes[n];
      for (size_t k = 0; k < node.inputs.size(); ++k)
        if (const auto& read = plan_.reads[n][k])
          node.inputs[k] = rows(node.inputs[k], *read, node.origin);
      const Origin origin = node.origin;
      const std::vector<ValueId> results = node.outputs;
      for (const ValueId y : results)
        if (const auto& flow = plan_.flow[y])
          std::visit(FitShape{flow->axis, flow->fresh}, node.op);
      g_.nodes.push_back(std::move(node));
      for (const ValueId y : results)
        if (plan_.flow[y]) enter(y, origin);
    }
    g_.inputs.insert(g_.inputs.end(), before_.begin(), before_.end());
    g_.outputs.insert(g_.outputs.end(), after_.begin(), after_.end());
    return least_;
  }

 private:
  static Origin first_reader(const std::vector<Node>& nodes, ValueId v) {
    for (const Node& node : nodes)
      if (std::find(node.inputs.begin(), node.inputs.end(), v) != node.inputs.end())
        return node.origin;
    return {};
  }

  // v has its fresh rows alone now; what later steps read of it becomes a state.
  void enter(ValueId v, const Origin& origin) {
    const Flow& flow = *plan_.flow[v];
    g_.values[v].type.shape[flow.axis] = flow.fresh;
    const i64 kept = plan_.kept[v];
    if (kept == 0) return;
    const std::string name = g_.values[v].name + ".kept";
    const auto of_rows = [&](i64 count) {
      Type type = g_.type(v);
      type.shape[flow.axis] = count;
      return type;
    };
    const Type state = of_rows(kept);
    const ValueId before = g_.add_value(name, state);
    const ValueId all = g_.add_node(join_rows(flow.axis), {before, v}, {of_rows(kept + flow.fresh)},
                                    g_.values[v].name + ".rows", origin);
    const ValueId after =
        g_.add_node(take_rows(flow.axis, flow.fresh, kept), {all}, {state}, name + ".next", origin);
    with_history_[v] = all;
    Axes order;
    for (i64 k = 0; k < state.rank(); ++k) order.push_back(k);
    before_.push_back({before, name, order});
    after_.push_back({after, name, order});
    Type plain = state;
    if (!plain.quant.empty()) plain.dtype = DType::f32, plain.quant = {};
    const std::vector<float> zeros(static_cast<size_t>(plain.elements()));
    g_.states.push_back({plain, constant_of(elements_of(zeros, plain)), -1});
    least_ += kept * least_row_bytes(v);
  }

  // Of what the rows can be made again without a product or a window: v itself, or what it was made
  // of element by element.
  i64 least_row_bytes(ValueId v) const {
    i64 least = g_.type(v).bytes() / plan_.flow[v]->fresh;
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (const Node& node : g_.nodes) {
        if (std::find(node.outputs.begin(), node.outputs.end(), v) == node.outputs.end()) continue;
        const Values values = facts_of(node.op).values;
        const bool is_free =
            is_elementwise(node.op) ||
            (node.inputs.size() == 1 && (values == Values::same || values == Values::moved));
        if (!is_free || !plan_.flow[node.inputs[0]]) return least;
        v = node.inputs[0];
        least = std::min(least, g_.type(v).bytes() / plan_.flow[v]->fresh);
        goes_on = true;
        break;
      }
    }
    return least;
  }

  ValueId rows(ValueId v, const FlowRead& read, const Origin& origin) {
    const Flow& flow = *plan_.flow[v];
    const auto history = with_history_.find(v);
    const ValueId from = history == with_history_.end() ? v : history->second;
    const i64 there = g_.type(from).shape[flow.axis], start = there - read.rows;
    if (start == 0 && read.count == there) return from;
    if (from != v && read.count == flow.fresh && read.rows == flow.fresh) return v;
    const auto key = std::pair(v, std::pair(start, read.count));
    if (const auto known = cuts_.find(key); known != cuts_.end()) return known->second;
    Type type = g_.type(from);
    type.shape[flow.axis] = read.count;
    return cuts_[key] = g_.add_node(take_rows(flow.axis, start, read.count), {from}, {type},
                                    g_.values[v].name + ".cut", origin);
  }

  Graph& g_;
  const StreamPlan& plan_;
  std::map<ValueId, ValueId>
      with_history_;  // by value: what was kept of it, and its fresh rows behind
  std::map<std::pair<ValueId, std::pair<i64, i64>>, ValueId> cuts_;
  std::vector<Port> before_, after_;
  i64 least_ = 0;
};

// The axis of the input in the storage; -1: refused.
i64 axis_of_input(const Graph& g, const StreamOption& asked, Diagnostics& diagnostics) {
  if (!g.states.empty())
    return diagnostics.error(g.name, "has a state already: it is a step, and no window",
                             "stream.state", "leave --stream out"),
           -1;
  if (g.inputs.size() != 1)
    return diagnostics.add({Severity::error, g.name, "streams along an axis of its only input",
                            std::to_string(g.inputs.size()) + " inputs", "1 input", "stream.inputs",
                            ""}),
           -1;
  const Shape& shape = g.type(g.inputs[0].value).shape;
  const Axes& order = g.inputs[0].order;
  const auto at = std::find(order.begin(), order.end(), asked.axis);
  if (at == order.end())
    return diagnostics.add(
               {Severity::error, g.name,
                fmt::format("input `{}` has no such axis for --stream", g.inputs[0].name),
                std::to_string(asked.axis),
                fmt::format("0..{}", static_cast<i64>(order.size()) - 1), "stream.axis", ""}),
           -1;
  if (shape[at - order.begin()] < 2)
    return diagnostics.add(
               {Severity::error, g.name,
                fmt::format("input `{}` has no rows along the axis for --stream", g.inputs[0].name),
                std::to_string(shape[at - order.begin()]), "2..", "stream.axis", ""}),
           -1;
  return at - order.begin();
}

}  // namespace

std::optional<StreamOption> parse_stream(const std::string& text) {
  StreamOption option;
  const size_t equals = text.find('=');
  const auto number = [](const std::string& digits, i64& value) {
    const bool good =
        !digits.empty() && digits.size() < 7 &&
        std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (good) value = std::stoll(digits);
    return good;
  };
  if (!number(text.substr(0, equals), option.axis)) return std::nullopt;
  if (equals != std::string::npos &&
      (!number(text.substr(equals + 1), option.frames) || option.frames < 1))
    return std::nullopt;
  return option;
}

void stream(PassContext& pass) {
  if (pass.options.stream.empty()) return;
  Graph& g = pass.graph;
  const auto asked = parse_stream(pass.options.stream);
  if (!asked)
    return pass.diagnostics.error("--stream",
                                  fmt::format("`{}` is not an axis", pass.options.stream),
                                  "stream.option", "give --stream AXIS or AXIS=FRAMES");
  const i64 axis = axis_of_input(g, *asked, pass.diagnostics);
  if (axis < 0) return;
  const i64 window = g.type(g.inputs[0].value).shape[axis], fewest = least_frames(g, axis);
  const i64 frames = asked->frames > 0 ? asked->frames : std::max<i64>(fewest, 1);
  if (frames >= window)
    return pass.diagnostics.add({Severity::error, g.name,
                                 "a step has as many frames as the window, or more",
                                 std::to_string(frames), fmt::format("1..{}", window - 1),
                                 "stream.frames", "give fewer frames, or leave --stream out"});
  const auto plan = plan_stream(g, axis, frames, pass.diagnostics);
  if (!plan) return;
  StreamDecision& decision = pass.result.stream;
  decision.macs_window = macs_of(g);
  for (const NodeId n : plan->whole) decision.whole.push_back(describe(g, g.nodes[n]));
  decision.least_state_bytes = Stepper(g, *plan).rewrite();
  remove_dead(g, "is not part of a step");
  decision.frames = frames, decision.window = window, decision.axis = axis;
  decision.macs_step = macs_of(g);
  for (const Port& p : g.user_outputs()) decision.flows_out |= plan->flow[p.value].has_value();
  if (decision.macs_step >= decision.macs_window && decision.macs_window > 0)
    pass.diagnostics.add(
        {Severity::error, g.name,
         fmt::format("a step would compute as much as the window: {} looks at all of it",
                     decision.whole.empty() ? "every operator" : decision.whole[0]),
         std::to_string(decision.macs_step),
         fmt::format("fewer than {} multiply-adds", decision.macs_window), "stream.whole",
         "leave --stream out"});
}

}  // namespace deuteron
