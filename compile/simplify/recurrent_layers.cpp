// SPDX-License-Identifier: Apache-2.0
// A recurrent layer that the model writes out step by step becomes one operator: its weights stand
// once in the program, and its state keeps more than eight bits.
#include <algorithm>
#include <map>

#include "compile/options.h"
#include "compile/pass.h"
#include "compile/simplify/recurrent_cells.h"
#include "ops/families.h"
#include "targets/target.h"

namespace deuteron {
namespace {

// By sum: what the step multiplies its input and the state with.
struct StepParts {
  using Products = std::vector<std::optional<MatrixTimes>>;
  std::optional<ElementSpan> x, state;
  Products of_x, of_state;
};
struct LayerStep {
  RecurrentCell cell;
  StepParts parts;
  i32 before = -1, after = -1;  // steps
};

class LayerFinder {
 public:
  explicit LayerFinder(const Graph& g) : g_(g), uses_(g), moves_(g, uses_) {}

  // The steps of one layer, in the order in which they run; empty: there is none left.
  std::vector<LayerStep> find() {
    for (NodeId n = 0; n < static_cast<NodeId>(g_.nodes.size()); ++n)
      if (auto cell = cell_at(g_, uses_, moves_, n)) add(std::move(*cell));
    for (const LayerStep& first : steps_) {
      if (first.before >= 0 || first.after < 0) continue;
      std::vector<LayerStep> layer{first};
      while (layer.back().after >= 0) layer.push_back(steps_[layer.back().after]);
      if (can_be_one(layer)) return layer;
    }
    return {};
  }
  const Uses& uses() const { return uses_; }
  ElementMoves& moves() { return moves_; }

 private:
  void add(RecurrentCell cell) {
    LayerStep step{std::move(cell), {}, -1, -1};
    for (const i32 before : candidates(step.cell))
      if (continues(steps_[before], step)) {
        step.before = before, steps_[before].after = static_cast<i32>(steps_.size());
        break;
      }
    by_h_[step.cell.h] = static_cast<i32>(steps_.size());
    if (step.cell.c >= 0) by_c_[step.cell.c] = static_cast<i32>(steps_.size());
    steps_.push_back(std::move(step));
  }

  // Steps whose results this one may go on with.
  std::vector<i32> candidates(const RecurrentCell& cell) const {
    std::vector<i32> found;
    const auto look = [&](const std::map<ValueId, i32>& in, const ElementSpan& span) {
      const auto at = in.find(span.base);
      if (at != in.end() && span == moves_.whole(span.base) && steps_[at->second].after < 0 &&
          steps_[at->second].cell.kind == cell.kind)
        found.push_back(at->second);
    };
    if (cell.c_before) look(by_c_, *cell.c_before);
    else if (cell.h_before) look(by_h_, *cell.h_before);
    else if (cell.kind == CellKind::rnn)
      for (const MatrixTimes& p : cell.gates[0]->products) look(by_h_, p.x);
    return found;
  }

  bool same_rows(const std::optional<MatrixTimes>& a, const std::optional<MatrixTimes>& b) const {
    if (!a || !b) return !a && !b;
    return a->row == b->row && a->column == b->column && a->x.count == b->x.count &&
           (a->weight == b->weight ||
            (g_.type(a->weight) == g_.type(b->weight) &&
             *g_.values[a->weight].constant == *g_.values[b->weight].constant));
  }
  MatrixTimes columns_of(const MatrixTimes& p, i64 first, i64 count) {
    return {moves_.behind({p.x.base, p.x.first + first, count}), p.weight, p.row, p.column + first};
  }
  // One matrix may meet the input and the state, which lie one behind the other.
  std::vector<MatrixTimes> apart(const GateSum& sum, const ElementSpan& state) {
    if (sum.products.size() != 1) return sum.products;
    const MatrixTimes& p = sum.products[0];
    const i64 rest = p.x.count - state.count;
    if (rest < 1) return sum.products;
    for (const i64 at : {rest, i64{0}})
      if (const MatrixTimes s = columns_of(p, at, state.count); s.x == state)
        return {columns_of(p, at == 0 ? state.count : 0, rest), s};
    return sum.products;
  }
  std::vector<MatrixTimes> apart_as(const GateSum& sum, const std::optional<MatrixTimes>& x,
                                    const std::optional<MatrixTimes>& state) {
    if (sum.products.size() != 1 || !x || !state) return sum.products;
    const MatrixTimes& p = sum.products[0];
    if (p.x.count != x->x.count + state->x.count) return sum.products;
    return {columns_of(p, x->column, x->x.count), columns_of(p, state->column, state->x.count)};
  }

  // A step behind another: what it takes of that one is its state.
  std::optional<StepParts> parts_behind(const RecurrentCell& before, const RecurrentCell& cell) {
    const size_t sums = sums_of(cell.kind);
    StepParts parts{
        {}, moves_.whole(before.h), StepParts::Products(sums), StepParts::Products(sums)};
    for (size_t k = 0; k < sums; ++k) {
      if (!cell.gates[k]) return std::nullopt;
      for (const MatrixTimes& p : apart(*cell.gates[k], *parts.state)) {
        const bool of_state = p.x == *parts.state;
        auto& to = of_state ? parts.of_state[k] : parts.of_x[k];
        if (to || (!of_state && parts.x.value_or(p.x) != p.x)) return std::nullopt;
        to = p;
        if (!of_state) parts.x = p.x;
      }
      if (parts.of_x[k].has_value() != takes_x(cell.kind, k) ||
          parts.of_state[k].has_value() != takes_state(cell.kind, k))
        return std::nullopt;
    }
    return parts;
  }
  bool is_zero(const std::optional<GateSum>& sum) const {
    return std::ranges::all_of(sum->bias, [](double b) { return b == 0; });
  }

  // The first step of a layer: what multiplies its input is known from the second one. A state of
  // zeros may be left out.
  std::optional<StepParts> parts_of_first(const RecurrentCell& first, const RecurrentCell& second,
                                          const StepParts& next) {
    const size_t sums = sums_of(first.kind);
    StepParts parts{{}, {}, StepParts::Products(sums), StepParts::Products(sums)};
    size_t states = 0, wanted = 0;
    for (size_t k = 0; k < sums; ++k) {
      if (!first.gates[k]) {
        const bool forgets = first.kind == CellKind::lstm && k == 1,
                   resets = first.kind == CellKind::gru && k != 1 && is_zero(second.gates[3]);
        if (!forgets && !resets) return std::nullopt;
        continue;
      }
      if (first.gates[k]->bias != second.gates[k]->bias) return std::nullopt;
      wanted += takes_state(first.kind, k);
      for (const MatrixTimes& p : apart_as(*first.gates[k], next.of_x[k], next.of_state[k])) {
        const bool of_x = !parts.of_x[k] && same_rows(p, next.of_x[k]);
        std::optional<ElementSpan>& from = of_x ? parts.x : parts.state;
        if ((!of_x && !same_rows(p, next.of_state[k])) || from.value_or(p.x) != p.x)
          return std::nullopt;
        from = p.x, states += !of_x;
        (of_x ? parts.of_x : parts.of_state)[k] = p;
      }
      if (takes_x(first.kind, k) && !parts.of_x[k]) return std::nullopt;
    }
    if (states != 0 && states != wanted) return std::nullopt;
    if (first.h_before && first.h_before != parts.state &&
        !(states == 0 && moves_.is_zero(*first.h_before)))
      return std::nullopt;
    return parts;
  }

  // Whether `step` is the same cell as `before`, one step on; then its parts are known, and those
  // of a first step.
  bool continues(LayerStep& before, LayerStep& step) {
    const size_t sums = sums_of(step.cell.kind);
    if (g_.type(before.cell.h).elements() != g_.type(step.cell.h).elements()) return false;
    auto parts = parts_behind(before.cell, step.cell);
    if (!parts) return false;
    if (before.before < 0) {
      auto first = parts_of_first(before.cell, step.cell, *parts);
      if (!first || first->x->count != parts->x->count) return false;
      before.parts = std::move(*first);
    } else {
      for (size_t k = 0; k < sums; ++k)
        if (!same_rows(before.parts.of_x[k], parts->of_x[k]) ||
            !same_rows(before.parts.of_state[k], parts->of_state[k]) ||
            before.cell.gates[k]->bias != step.cell.gates[k]->bias)
          return false;
    }
    step.parts = std::move(*parts);
    return true;
  }

  // No step waits for a result of the layer other than its state, and no cell state is read between
  // the steps.
  bool can_be_one(const std::vector<LayerStep>& layer) const {
    std::vector<bool> depends(g_.values.size());
    for (const LayerStep& s : layer) {
      depends[s.cell.h] = true;
      if (s.cell.y >= 0) depends[s.cell.y] = true;
      if (s.cell.c < 0) continue;
      depends[s.cell.c] = true;
      const i64 readers = std::ssize(uses_.readers[s.cell.c]);
      if (s.after >= 0 && (readers != s.cell.c_readers || uses_.output_uses[s.cell.c] != 0))
        return false;
    }
    for (const Node& node : g_.nodes)
      if (std::ranges::any_of(node.inputs, [&](ValueId v) { return depends[v]; }))
        for (const ValueId v : node.outputs) depends[v] = true;
    const auto waits = [&](const std::optional<ElementSpan>& s) { return s && depends[s->base]; };
    const LayerStep& first = layer.front();
    return !waits(first.parts.state) && !waits(first.cell.c_before) &&
           std::ranges::none_of(layer, [&](const LayerStep& s) { return waits(s.parts.x); });
  }

  const Graph& g_;
  Uses uses_;
  ElementMoves moves_;
  std::vector<LayerStep> steps_;
  std::map<ValueId, i32> by_h_, by_c_;
};

class LayerWriter {
 public:
  LayerWriter(Graph& g, const Uses& uses, ElementMoves& moves, const std::vector<LayerStep>& layer)
      : g_(g),
        uses_(uses),
        moves_(moves),
        layer_(layer),
        kind_(layer[0].cell.kind),
        steps_(std::ssize(layer)),
        inputs_(layer[0].parts.x->count),
        units_(g.type(layer[0].cell.h).elements()),
        name_(g.values[layer.back().cell.h].name),
        old_nodes_(static_cast<NodeId>(g.nodes.size())) {
    for (const LayerStep& s : layer)
      origin_ = merge(origin_, g.nodes[uses.producer[s.cell.h]].origin);
  }

  void run() {
    RecurrentForm form;
    std::vector<ValueId> in{x(form)};
    const auto [weight, bias] = constants(true);
    const auto [recurrent, recurrent_bias] = constants(false);
    in.insert(in.end(), {weight, recurrent, bias, recurrent_bias});
    add_initial(in);
    const std::vector<std::pair<ValueId, bool>> wholes = whole_sequences(form.reverse);
    const std::vector<ValueId> out = add(cell_op(kind_, form), std::move(in), name_);
    for (const auto& [v, turned] : wholes) {
      const ValueId y = turned ? picked(out[0], falling(steps_)) : out[0];
      replace(v, reshaped(y, g_.type(v).shape));
    }
    for (i64 k = 0; k + 1 < steps_; ++k) {
      const Slice one{.axis = 0, .start = form.reverse ? steps_ - 1 - k : k, .count = 1};
      replace_result(k, add(one, {out[0]}, g_.values[step(k).h].name)[0]);
    }
    replace_result(steps_ - 1, out[1]);
    const RecurrentCell& last = step(steps_ - 1);
    if (kind_ == CellKind::lstm) replace(last.c, reshaped(out[2], g_.type(last.c).shape));
    redirect();
    put_in_order();
    drop_unread_sequence(out[0]);
    remove_dead(g_, "a part of the recurrent layer that it stands in");
  }

 private:
  std::vector<ValueId> add(Op op, std::vector<ValueId> in, const std::string& name) {
    std::vector<const Type*> types;
    auto made = infer(op, g_.types(in, types));
    DEUTERON_CHECK(made, made ? "" : made.why.what);
    g_.add_node(std::move(op), std::move(in), std::move(*made.value), name, origin_);
    return g_.nodes.back().outputs;
  }
  ValueId reshaped(ValueId v, const Shape& to) {
    return g_.type(v).shape == to ? v : add(Reshape{to}, {v}, g_.values[v].name)[0];
  }
  ValueId picked(ValueId v, Axes index) {
    return add(Gather{.axis = 0, .index = std::move(index)}, {v}, g_.values[v].name)[0];
  }
  static Axes falling(i64 count) {
    Axes index;
    for (i64 k = count; k-- > 0;) index.push_back(k);
    return index;
  }
  // The span as a value of that shape.
  ValueId value_of(const ElementSpan& s, const Shape& to) {
    ValueId v = s.base;
    if (const i64 all = g_.type(v).elements(); all != s.count)
      v = add(Slice{.axis = 0, .start = s.first, .count = s.count}, {reshaped(v, {all})},
              g_.values[v].name)[0];
    return reshaped(v, to);
  }

  const ElementSpan& x_of(i64 k) const { return *layer_[static_cast<size_t>(k)].parts.x; }
  bool lies(i64 step) const {
    for (i64 k = 1; k < steps_; ++k)
      if (x_of(k).base != x_of(0).base || x_of(k).first != x_of(0).first + k * step) return false;
    return true;
  }
  // [steps,1,inputs]
  ValueId x(RecurrentForm& form) {
    const Shape all{steps_, 1, inputs_};
    form.reverse = lies(-inputs_);
    if (form.reverse || lies(inputs_))
      return value_of(
          {x_of(0).base, std::min(x_of(0).first, x_of(steps_ - 1).first), steps_ * inputs_}, all);
    if (lies(0))
      return picked(value_of(x_of(0), {1, 1, inputs_}), Axes(static_cast<size_t>(steps_), 0));
    std::vector<ValueId> parts;
    for (i64 k = 0; k < steps_; ++k) parts.push_back(value_of(x_of(k), {1, 1, inputs_}));
    return add(Concat{0}, parts, name_ + "_x")[0];
  }

  // Weights [rows,columns] and biases [rows] of the input or of the state.
  std::pair<ValueId, ValueId> constants(bool of_x) {
    const LayerStep& step = layer_.back();
    const size_t gates = kind_ == CellKind::gru ? 3 : sums_of(kind_);
    const i64 columns = of_x ? inputs_ : units_, rows = static_cast<i64>(gates) * units_;
    std::vector<float> weights, bias;
    for (size_t k = 0; k < gates; ++k) {
      const bool reset = !of_x && kind_ == CellKind::gru && k == 2;  // what r scales
      const MatrixTimes& p = of_x ? *step.parts.of_x[k] : *step.parts.of_state[reset ? 3 : k];
      const auto data = g_.values[p.weight].constant->as<float>();
      const i64 all = g_.type(p.weight).shape[1];
      for (i64 row = p.row; row < p.row + units_; ++row) {
        const auto part =
            data.subspan(static_cast<size_t>(row * all + p.column), static_cast<size_t>(columns));
        weights.insert(weights.end(), part.begin(), part.end());
      }
      for (const double b : step.cell.gates[reset ? 3 : k]->bias)
        bias.push_back(of_x || reset ? static_cast<float>(b) : 0.0f);
    }
    const std::string of =
        g_.values[(of_x ? step.parts.of_x : step.parts.of_state)[0]->weight].name;
    return {g_.add_value(of, {DType::f32, {rows, columns}, {}}, constant_of(std::move(weights))),
            g_.add_value(of + "_bias", {DType::f32, {rows}, {}}, constant_of(std::move(bias)))};
  }

  void add_initial(std::vector<ValueId>& in) {
    const LayerStep& first = layer_.front();
    const bool has_cell = first.cell.c_before && !moves_.is_zero(*first.cell.c_before);
    if ((!first.parts.state || moves_.is_zero(*first.parts.state)) && !has_cell) return;
    for (const auto& given : {first.parts.state, first.cell.c_before}) {
      if (given) in.push_back(value_of(*given, {1, 1, units_}));
      else
        in.push_back(g_.add_value(name_ + "_zeros", {DType::f32, {1, 1, units_}, {}},
                                  constant_of(std::vector<float>(static_cast<size_t>(units_)))));
      if (kind_ != CellKind::lstm) break;
    }
  }

  // Values that have the results of all steps in their order, or in the opposite one (true), where
  // y lies the other way.
  std::vector<std::pair<ValueId, bool>> whole_sequences(bool reverse) const {
    std::vector<std::pair<ValueId, bool>> found;
    for (NodeId n = 0; n < old_nodes_; ++n) {
      const Node& node = g_.nodes[n];
      if (!is_movement(node.op)) continue;
      const ValueId v = node.outputs[0];
      if (g_.type(v).elements() != steps_ * units_) continue;
      for (const bool falls : {false, true})
        if (holds_steps(v, falls)) found.push_back({v, falls != reverse});
    }
    return found;
  }
  bool holds_steps(ValueId v, bool falls) const {
    for (i64 k = steps_; k-- > 0;) {  // the last one first: it tells most values apart
      const ElementSpan part = moves_.behind({v, k * units_, units_});
      const RecurrentCell& cell = step(falls ? steps_ - 1 - k : k);
      if ((part.base != cell.h && part.base != cell.y) || part.first != 0) return false;
    }
    return true;
  }

  const RecurrentCell& step(i64 k) const { return layer_[static_cast<size_t>(k)].cell; }
  void replace_result(i64 k, ValueId h) {
    for (const ValueId v : {step(k).h, step(k).y})
      if (v >= 0) replace(v, reshaped(h, g_.type(v).shape));
  }
  void replace(ValueId old_value, ValueId new_value) { replaced_[old_value] = new_value; }
  void redirect() {
    const auto now = [&](ValueId& v) {
      if (const auto at = replaced_.find(v); at != replaced_.end()) v = at->second;
    };
    for (NodeId n = 0; n < old_nodes_; ++n)
      for (ValueId& v : g_.nodes[n].inputs) now(v);
    for (Port& port : g_.outputs) now(port.value);
  }
  // What the layer reads comes before it, and what reads it behind; all else stays as it stood.
  void put_in_order() {
    const Uses uses(g_);
    std::vector<Node> ordered;
    std::vector<u8> state(g_.nodes.size());  // 1: waits for its operands, 2: done
    std::vector<NodeId> waiting;
    for (NodeId n = 0; n < static_cast<NodeId>(g_.nodes.size()); ++n) {
      waiting.push_back(n);
      while (!waiting.empty()) {
        const NodeId top = waiting.back();
        const bool seen = std::exchange(state[top], std::max<u8>(state[top], 1)) != 0;
        if (!seen)
          for (const ValueId v : g_.nodes[top].inputs)
            if (const NodeId p = uses.producer[v]; p >= 0 && state[p] == 0) waiting.push_back(p);
        if (waiting.back() != top) continue;
        waiting.pop_back();
        if (std::exchange(state[top], 2) != 2) ordered.push_back(std::move(g_.nodes[top]));
      }
    }
    g_.nodes = std::move(ordered);
  }
  // Where only the last step is read, nothing else is kept.
  void drop_unread_sequence(ValueId y) {
    std::vector<bool> needed(g_.values.size());
    for (const Port& port : g_.outputs) needed[port.value] = true;
    Origin gone;
    Node* layer = nullptr;
    for (size_t n = g_.nodes.size(); n-- > 0;) {
      Node& node = g_.nodes[n];
      const bool lives = std::ranges::any_of(node.outputs, [&](ValueId v) { return needed[v]; });
      if (node.outputs[0] == y) layer = &node;
      if (!lives) gone = merge(gone, node.origin);
      else
        for (const ValueId v : node.inputs) needed[v] = true;
    }
    layer->origin = merge(layer->origin, gone);
    if (needed[y]) return;
    layer->outputs.erase(layer->outputs.begin());
    recurrent_form(layer->op)->sequence = false;
  }

  Graph& g_;
  const Uses& uses_;
  ElementMoves& moves_;
  const std::vector<LayerStep>& layer_;
  CellKind kind_;
  i64 steps_, inputs_, units_;
  std::string name_;
  NodeId old_nodes_;
  Origin origin_;
  std::map<ValueId, ValueId> replaced_;
};

}  // namespace

void find_recurrent_layers(PassContext& pass) {
  if (pass.target.options.is_for_stock() || is_quantized(pass.graph)) return;
  while (!pass.rewrites_left || *pass.rewrites_left != 0) {
    LayerFinder finder(pass.graph);
    const std::vector<LayerStep> layer = finder.find();
    if (layer.empty()) return;
    LayerWriter(pass.graph, finder.uses(), finder.moves(), layer).run();
    if (pass.rewrites_left && *pass.rewrites_left > 0) --*pass.rewrites_left;
  }
}

}  // namespace deuteron
