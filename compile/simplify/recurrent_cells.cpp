// SPDX-License-Identifier: Apache-2.0
#include "compile/simplify/recurrent_cells.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "ir/rewrite/patch.h"

namespace deuteron {
namespace {

constexpr size_t kMostProducts = 2;  // of the input and of the state
constexpr int kMostSums = 12;        // additions in one another

i64 product_of(const Shape& shape, i64 from, i64 to) {
  return std::accumulate(shape.begin() + from, shape.begin() + to, i64{1}, std::multiplies<>());
}
// Elements of one place along the axis, where nothing lies before the axis; else 0.
i64 elements_behind(const Shape& shape, i64 axis) {
  return product_of(shape, 0, axis) == 1 ? product_of(shape, axis + 1, std::ssize(shape)) : 0;
}

std::optional<ElementSpan> in_part(const Graph& g, const Node& node, const Concat& concat,
                                   ElementSpan s) {
  if (elements_behind(g.type(node.outputs[0]).shape, concat.axis) == 0) return std::nullopt;
  for (const ValueId part : node.inputs) {
    const i64 has = g.type(part).elements();
    if (s.first < has)
      return s.first + s.count <= has ? std::optional(ElementSpan{part, s.first, s.count})
                                      : std::nullopt;
    s.first -= has;
  }
  return std::nullopt;
}

std::optional<ElementSpan> before_move(const Graph& g, const Node& node, const ElementSpan& s) {
  const ValueId x = node.inputs.empty() ? -1 : node.inputs[0];
  if (std::holds_alternative<Reshape>(node.op)) return ElementSpan{x, s.first, s.count};
  if (const auto* concat = std::get_if<Concat>(&node.op)) return in_part(g, node, *concat, s);
  if (const auto* slice = std::get_if<Slice>(&node.op)) {
    const i64 behind = elements_behind(g.type(x).shape, slice->axis);
    if (behind == 0 || (slice->step != 1 && s.first % behind + s.count > behind))
      return std::nullopt;
    const i64 place = s.first / behind;
    return ElementSpan{x, (slice->start + place * slice->step) * behind + s.first % behind,
                       s.count};
  }
  if (const auto* gather = std::get_if<Gather>(&node.op)) {
    const i64 behind = elements_behind(g.type(x).shape, gather->axis);
    if (behind == 0 || s.first % behind + s.count > behind) return std::nullopt;
    return ElementSpan{x, gather->index[s.first / behind] * behind + s.first % behind, s.count};
  }
  return std::nullopt;
}

class CellReader {
 public:
  CellReader(const Graph& g, const Uses& uses) : g_(g), uses_(uses) {}

  std::optional<RecurrentCell> read(NodeId node) const {
    const ElementSpan h = whole(g_.nodes[node].outputs[0]);
    if (behind_moves(g_, uses_, h) != h) return std::nullopt;  // moves what another node makes
    if (auto cell = read_lstm(h)) return cell;
    if (auto cell = read_gru(h)) return cell;
    return read_rnn(h);
  }

 private:
  // The operator that makes all elements of the span, each from the elements at its place.
  template <class T>
  const Node* maker(ElementSpan& s) const {
    s = behind_moves(g_, uses_, s);
    const NodeId n = uses_.producer[s.base];
    return n >= 0 && std::holds_alternative<T>(g_.nodes[n].op) ? &g_.nodes[n] : nullptr;
  }
  ElementSpan at(ValueId v, const ElementSpan& s) const {
    return behind_moves(g_, uses_, {v, s.first, s.count});
  }
  std::optional<ElementSpan> of_unary(ElementSpan s, UnaryFn fn) const {
    const Node* node = maker<Unary>(s);
    if (!node || std::get<Unary>(node->op).fn != fn) return std::nullopt;
    return at(node->inputs[0], s);
  }
  // Both operands of a product or sum in either order.
  using Pair = std::array<ElementSpan, 2>;
  template <class T>
  std::vector<Pair> operands(ElementSpan s, float alpha = 1) const {
    const Node* node = maker<T>(s);
    if (!node) return {};
    if constexpr (std::is_same_v<T, Add>)
      if (const Add& add = std::get<Add>(node->op); add.alpha != alpha || add.bounds != Bounds{})
        return {};
    const Shape& shape = g_.type(node->outputs[0]).shape;
    for (const ValueId v : node->inputs)
      if (numel(g_.type(v).shape) != numel(shape)) return {};
    const ElementSpan a = at(node->inputs[0], s), b = at(node->inputs[1], s);
    return alpha == 1 ? std::vector<Pair>{{a, b}, {b, a}} : std::vector<Pair>{{a, b}};
  }

  std::optional<GateSum> sum_of(const ElementSpan& s) const {
    GateSum sum{{}, std::vector<double>(static_cast<size_t>(s.count))};
    return collect(s, sum, 0) ? std::optional(std::move(sum)) : std::nullopt;
  }
  bool collect(ElementSpan s, GateSum& sum, int depth) const {
    s = behind_moves(g_, uses_, s);
    if (g_.is_constant(s.base)) return add_constant(s, sum);
    const NodeId n = uses_.producer[s.base];
    if (n < 0 || depth > kMostSums) return false;
    if (const auto* linear = op_as<Linear>(g_, n)) return add_linear(*linear, n, s, sum);
    const auto* add = op_as<Add>(g_, n);
    if (!add || add->alpha != 1 || add->bounds != Bounds{}) return false;
    for (const ValueId v : g_.nodes[n].inputs) {
      const i64 elements = g_.type(v).elements(), all = g_.type(s.base).elements();
      if (elements == all) {
        if (!collect({v, s.first, s.count}, sum, depth + 1)) return false;
      } else if (!g_.is_constant(v) || g_.type(v).shape.back() != elements ||
                 s.first % elements + s.count > elements ||
                 !add_constant({v, s.first % elements, s.count}, sum)) {
        return false;
      }
    }
    return true;
  }
  bool add_constant(const ElementSpan& s, GateSum& sum) const {
    if (g_.type(s.base).dtype != DType::f32) return false;
    const auto data = g_.values[s.base].constant->as<float>();
    for (i64 k = 0; k < s.count; ++k)
      sum.bias[static_cast<size_t>(k)] +=
          static_cast<double>(data[static_cast<size_t>(s.first + k)]);
    return true;
  }
  bool add_linear(const Linear& linear, NodeId n, const ElementSpan& s, GateSum& sum) const {
    const Node& node = g_.nodes[n];
    const ValueId x = node.inputs[0], weight = node.inputs[1];
    if (linear.bounds != Bounds{} || !g_.is_constant(weight) ||
        g_.type(weight).dtype != DType::f32 || sum.products.size() >= kMostProducts)
      return false;
    const i64 rows = g_.type(weight).shape[0], columns = g_.type(weight).shape[1],
              row = s.first % rows;
    if (row + s.count > rows) return false;
    sum.products.push_back(
        {behind_moves(g_, uses_, {x, s.first / rows * columns, columns}), weight, row, 0});
    if (node.inputs.size() < 3) return true;
    return g_.is_constant(node.inputs[2]) && add_constant({node.inputs[2], row, s.count}, sum);
  }

  ElementSpan whole(ValueId v) const { return {v, 0, g_.type(v).elements()}; }

  // i * g
  bool read_new_part(const ElementSpan& s, RecurrentCell& cell) const {
    for (const auto& [i, g] : operands<Mul>(s)) {
      const auto in = of_unary(i, UnaryFn::sigmoid), what = of_unary(g, UnaryFn::tanh);
      if (!in || !what) continue;
      cell.gates[0] = sum_of(*in), cell.gates[2] = sum_of(*what);
      return cell.gates[0] && cell.gates[2];
    }
    return false;
  }
  // c = f * c + i * g, or i * g alone
  bool read_lstm_state(const ElementSpan& c, RecurrentCell& cell) const {
    for (const auto& [kept, made] : operands<Add>(c))
      for (const auto& [f, before] : operands<Mul>(kept)) {
        const auto forget = of_unary(f, UnaryFn::sigmoid);
        if (!forget || !read_new_part(made, cell)) continue;
        cell.gates[1] = sum_of(*forget), cell.c_before = before;
        return cell.gates[1].has_value();
      }
    return read_new_part(c, cell);
  }
  std::optional<RecurrentCell> read_lstm(const ElementSpan& h) const {
    for (const auto& [o, out] : operands<Mul>(h)) {
      const auto gate = of_unary(o, UnaryFn::sigmoid), c = of_unary(out, UnaryFn::tanh);
      if (!gate || !c || g_.type(c->base).elements() != h.count) continue;
      RecurrentCell cell{CellKind::lstm, h.base, c->base, {{}, {}, {}, sum_of(*gate)}, {}, {}};
      if (cell.gates[3] && read_lstm_state(*c, cell)) return cell;
    }
    return std::nullopt;
  }

  bool is_one(ValueId v) const {
    if (!g_.is_constant(v) || g_.type(v).dtype != DType::f32) return false;
    const auto data = g_.values[v].constant->as<float>();
    return std::ranges::all_of(data, [](float x) { return x == 1; });
  }
  // z of 1 - z
  std::optional<ElementSpan> complement(ElementSpan s) const {
    const Node* node = maker<Add>(s);
    if (!node) return std::nullopt;
    const Add& add = std::get<Add>(node->op);
    if (add.alpha != -1 || add.bounds != Bounds{} || !is_one(node->inputs[0]) ||
        g_.type(node->inputs[1]).elements() != g_.type(s.base).elements())
      return std::nullopt;
    return at(node->inputs[1], s);
  }
  // n = tanh(x + r * h), where r * h may be missing, or r alone times what is constant
  bool read_gru_new(const ElementSpan& s, RecurrentCell& cell) const {
    const auto inside = of_unary(s, UnaryFn::tanh);
    if (!inside) return false;
    for (const auto& [of_input, of_state] : operands<Add>(*inside))
      for (const auto& [r, state] : operands<Mul>(of_state)) {
        const auto reset = of_unary(r, UnaryFn::sigmoid);
        if (!reset) continue;
        cell.gates[0] = sum_of(*reset), cell.gates[2] = sum_of(of_input);
        cell.gates[3] = sum_of(state);
        return cell.gates[0] && cell.gates[2] && cell.gates[3];
      }
    cell.gates[2] = sum_of(*inside);
    return cell.gates[2].has_value();
  }
  // h = (1 - z) * n + z * h, or n + z * (h - n), or (1 - z) * n alone
  std::optional<RecurrentCell> read_gru(const ElementSpan& h) const {
    RecurrentCell cell{CellKind::gru, h.base, -1, std::vector<std::optional<GateSum>>(4), {}, {}};
    const auto finish = [&](const ElementSpan& z, const ElementSpan& n) {
      const auto update = of_unary(z, UnaryFn::sigmoid);
      if (!update || !read_gru_new(n, cell)) return false;
      cell.gates[1] = sum_of(*update);
      return cell.gates[1].has_value();
    };
    for (const auto& [kept, made] : operands<Add>(h)) {
      for (const auto& [z, before] : operands<Mul>(kept)) {
        cell.h_before = before;
        for (const auto& [rest, n] : operands<Mul>(made))
          if (complement(rest) == z && finish(z, n)) return cell;
        for (const auto& [old, n] : operands<Add>(before, -1)) {
          cell.h_before = old;
          if (n == made && finish(z, n)) return cell;
        }
      }
    }
    cell.h_before.reset();
    for (const auto& [rest, n] : operands<Mul>(h))
      if (const auto z = complement(rest); z && finish(*z, n)) return cell;
    return std::nullopt;
  }

  std::optional<RecurrentCell> read_rnn(const ElementSpan& h) const {
    const auto inside = of_unary(h, UnaryFn::tanh);
    auto sum = inside ? sum_of(*inside) : std::nullopt;
    if (!sum || sum->products.empty()) return std::nullopt;
    return RecurrentCell{CellKind::rnn, h.base, -1, {std::move(sum)}, {}, {}};
  }

  // A layer of one step.
 public:
  std::optional<RecurrentCell> read_layer(const Node& node, const RecurrentForm& form,
                                          CellKind kind) const {
    const Shape& x = g_.type(node.inputs[0]).shape;
    if (form.bidirectional || x[0] * x[1] != 1) return std::nullopt;
    for (size_t k = kInputWeight; k < kWeightsOfADirection; ++k)
      if (!g_.is_constant(node.inputs[1 + k])) return std::nullopt;
    const size_t at = form.sequence ? 1 : 0;
    RecurrentCell cell{kind, node.outputs[at], -1, {}, {}, {}, 1};
    if (form.sequence) cell.y = node.outputs[0];
    if (kind == CellKind::lstm) cell.c = node.outputs[at + 1];
    const size_t first = initial_operand(form);
    const i64 units = g_.type(cell.h).elements();
    std::optional<ElementSpan> state;
    if (node.inputs.size() > first) {
      state = behind_moves(g_, uses_, whole(node.inputs[first]));
      if (kind == CellKind::gru) cell.h_before = state;
      if (kind == CellKind::lstm)
        cell.c_before = behind_moves(g_, uses_, whole(node.inputs[first + 1]));
    }
    const auto add = [&](GateSum& sum, bool of_x, i64 row) {
      const size_t at = 1 + (of_x ? kInputWeight : kStateWeight);
      const ValueId bias = node.inputs[at + kInputBias - kInputWeight];
      add_constant({bias, row, units}, sum);
      if (of_x)
        sum.products.push_back({span_of(g_, uses_, node.inputs[0]), node.inputs[at], row, 0});
      else if (state) sum.products.push_back({*state, node.inputs[at], row, 0});
    };
    for (size_t k = 0; k < sums_of(kind); ++k) {
      GateSum sum{{}, std::vector<double>(static_cast<size_t>(units))};
      const i64 row = static_cast<i64>(kind == CellKind::gru && k == 3 ? 2 : k) * units;
      if (takes_x(kind, k)) add(sum, true, row);
      if (takes_state(kind, k)) add(sum, false, row);
      cell.gates.push_back(std::move(sum));
    }
    return cell;
  }

 private:
  const Graph& g_;
  const Uses& uses_;
};

}  // namespace

ElementSpan span_of(const Graph& g, const Uses& uses, ValueId v) {
  return behind_moves(g, uses, {v, 0, g.type(v).elements()});
}

ElementSpan behind_moves(const Graph& g, const Uses& uses, ElementSpan span) {
  for (NodeId n; (n = uses.producer[span.base]) >= 0;) {
    const auto before = before_move(g, g.nodes[n], span);
    if (!before) break;
    span = *before;
  }
  return span;
}

std::optional<RecurrentCell> cell_at(const Graph& g, const Uses& uses, NodeId node) {
  const Node& n = g.nodes[node];
  const CellReader reader(g, uses);
  if (const auto* lstm = std::get_if<Lstm>(&n.op))
    return reader.read_layer(n, lstm->form, CellKind::lstm);
  if (const auto* gru = std::get_if<Gru>(&n.op))
    return reader.read_layer(n, gru->form, CellKind::gru);
  if (const auto* rnn = std::get_if<Rnn>(&n.op); rnn && !rnn->relu)
    return reader.read_layer(n, rnn->form, CellKind::rnn);
  if (n.outputs.size() != 1 || g.type(n.outputs[0]).dtype != DType::f32) return std::nullopt;
  return reader.read(node);
}

}  // namespace deuteron
