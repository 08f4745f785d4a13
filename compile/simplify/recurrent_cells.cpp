// SPDX-License-Identifier: Apache-2.0
#include "compile/simplify/recurrent_cells.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "ir/rewrite/patch.h"
#include "ops/families.h"

namespace deuteron {
namespace {

constexpr size_t kMostProducts = 2;  // of the input and of the state
constexpr int kMostSums = 12;        // additions in one another
constexpr i64 kMostMoved = 1 << 20;  // elements, which float32 counts

}  // namespace

Op cell_op(CellKind kind, const RecurrentForm& form) {
  if (kind == CellKind::lstm) return Lstm{form, 0};
  if (kind == CellKind::gru) return Gru{form};
  return Rnn{form, false};
}

namespace {

class CellReader {
 public:
  CellReader(const Graph& g, const Uses& uses, ElementMoves& moves)
      : g_(g), uses_(uses), moves_(moves) {}

  std::optional<RecurrentCell> read(NodeId node) const {
    const ElementSpan h = whole(g_.nodes[node].outputs[0]);
    if (moves_.behind(h) != h) return std::nullopt;  // moves what another node makes
    if (auto cell = read_lstm(h)) return cell;
    if (auto cell = read_gru(h)) return cell;
    return read_rnn(h);
  }

  // A layer of one step.
  std::optional<RecurrentCell> read_layer(const Node& node, const RecurrentForm& form) const {
    const Shape& x = g_.type(node.inputs[0]).shape;
    if (form.bidirectional || x[0] * x[1] != 1) return std::nullopt;
    for (size_t k = 1; k <= kWeightsOfADirection; ++k)
      if (!g_.is_constant(node.inputs[k]) || g_.type(node.inputs[k]).dtype != DType::f32)
        return std::nullopt;
    const size_t h = form.sequence ? 1 : 0, first = initial_operand(form);
    const i64 units = g_.type(node.outputs[h]).elements(),
              gates = g_.type(node.inputs[1]).shape[0] / units;
    const CellKind kind = gates == 4 ? CellKind::lstm : gates == 3 ? CellKind::gru : CellKind::rnn;
    if (kind == CellKind::rnn && !(node.op == cell_op(kind, form))) return std::nullopt;
    RecurrentCell cell{kind, node.outputs[h], -1, {}, {}, {}, 1};
    if (form.sequence) cell.y = node.outputs[0];
    if (kind == CellKind::lstm) cell.c = node.outputs[h + 1];
    std::optional<ElementSpan> state;
    if (node.inputs.size() > first) {
      state = moves_.behind(whole(node.inputs[first]));
      if (kind == CellKind::gru) cell.h_before = state;
      if (kind == CellKind::lstm) cell.c_before = moves_.behind(whole(node.inputs[first + 1]));
    }
    const auto add = [&](GateSum& sum, bool of_x, i64 row) {
      const size_t at = 1 + (of_x ? kInputWeight : kStateWeight);
      const ValueId bias = node.inputs[at + kInputBias - kInputWeight];
      add_constant({bias, row, units}, sum);
      if (of_x)
        sum.products.push_back({moves_.behind(whole(node.inputs[0])), node.inputs[at], row, 0});
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
  // The operator that makes all elements of the span, each from the elements at its place.
  template <class T>
  struct Made {
    const T* op = nullptr;
    const Node* node = nullptr;
    explicit operator bool() const { return op != nullptr; }
  };
  template <class T>
  Made<T> maker(ElementSpan& s) const {
    s = moves_.behind(s);
    const NodeId n = uses_.producer[s.base];
    const T* op = op_as<T>(g_, n);
    return op ? Made<T>{op, &g_.nodes[n]} : Made<T>{};
  }
  ElementSpan at(ValueId v, const ElementSpan& s) const {
    return moves_.behind({v, s.first, s.count});
  }
  std::optional<ElementSpan> of_function(ElementSpan s, std::string_view function) const {
    s = moves_.behind(s);
    const NodeId n = uses_.producer[s.base];
    if (n < 0 || !is_elementwise(g_.nodes[n].op) || function_of(g_.nodes[n].op) != function)
      return std::nullopt;
    return at(g_.nodes[n].inputs[0], s);
  }
  // Both operands of a product or sum in either order.
  using Pair = std::array<ElementSpan, 2>;
  std::vector<Pair> operands(const Node& node, const ElementSpan& s) const {
    for (const ValueId v : node.inputs)
      if (g_.type(v).elements() != g_.type(node.outputs[0]).elements()) return {};
    const ElementSpan a = at(node.inputs[0], s), b = at(node.inputs[1], s);
    return {{a, b}, {b, a}};
  }
  std::vector<Pair> factors(ElementSpan s) const {
    const auto made = maker<Mul>(s);
    return made ? operands(*made.node, s) : std::vector<Pair>{};
  }
  // a + b; with an alpha of -1 the first pair is a and b of a - b.
  std::vector<Pair> terms(ElementSpan s, float alpha = 1) const {
    const auto made = maker<Add>(s);
    return made && made.op->alpha == alpha && made.op->bounds.none() ? operands(*made.node, s)
                                                                     : std::vector<Pair>{};
  }

  std::optional<GateSum> sum_of(const ElementSpan& s) const {
    GateSum sum{{}, std::vector<double>(static_cast<size_t>(s.count))};
    return collect(s, sum, 0) ? std::optional(std::move(sum)) : std::nullopt;
  }
  bool collect(ElementSpan s, GateSum& sum, int depth) const {
    s = moves_.behind(s);
    if (g_.is_constant(s.base)) return add_constant(s, sum);
    if (depth > kMostSums) return false;
    if (const auto linear = maker<Linear>(s)) return add_linear(*linear.op, *linear.node, s, sum);
    const auto add = maker<Add>(s);
    if (!add || add.op->alpha != 1 || !add.op->bounds.none()) return false;
    for (const ValueId v : add.node->inputs) {
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
  bool add_linear(const Linear& linear, const Node& node, const ElementSpan& s,
                  GateSum& sum) const {
    const ValueId x = node.inputs[0], weight = node.inputs[1];
    if (!linear.bounds.none() || !g_.is_constant(weight) || g_.type(weight).dtype != DType::f32 ||
        sum.products.size() >= kMostProducts)
      return false;
    const i64 rows = g_.type(weight).shape[0], columns = g_.type(weight).shape[1],
              row = s.first % rows;
    if (row + s.count > rows) return false;
    sum.products.push_back({moves_.behind({x, s.first / rows * columns, columns}), weight, row, 0});
    if (node.inputs.size() < 3) return true;
    return g_.is_constant(node.inputs[2]) && add_constant({node.inputs[2], row, s.count}, sum);
  }

  ElementSpan whole(ValueId v) const { return moves_.whole(v); }

  // i * g
  bool read_new_part(const ElementSpan& s, RecurrentCell& cell) const {
    for (const auto& [i, g] : factors(s)) {
      const auto in = of_function(i, "sigmoid"), what = of_function(g, "tanh");
      if (!in || !what) continue;
      cell.gates[0] = sum_of(*in), cell.gates[2] = sum_of(*what);
      return cell.gates[0] && cell.gates[2];
    }
    return false;
  }
  // c = f * c + i * g, or i * g alone
  bool read_lstm_state(const ElementSpan& c, RecurrentCell& cell) const {
    for (const auto& [kept, made] : terms(c))
      for (const auto& [f, before] : factors(kept)) {
        const auto forget = of_function(f, "sigmoid");
        if (!forget || !read_new_part(made, cell)) continue;
        cell.gates[1] = sum_of(*forget), cell.c_before = before;
        return cell.gates[1].has_value();
      }
    return read_new_part(c, cell);
  }
  std::optional<RecurrentCell> read_lstm(const ElementSpan& h) const {
    for (const auto& [o, out] : factors(h)) {
      const auto gate = of_function(o, "sigmoid"), c = of_function(out, "tanh");
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
    const auto made = maker<Add>(s);
    if (!made || made.op->alpha != -1 || !made.op->bounds.none() || !is_one(made.node->inputs[0]) ||
        g_.type(made.node->inputs[1]).elements() != g_.type(s.base).elements())
      return std::nullopt;
    return at(made.node->inputs[1], s);
  }
  // n = tanh(x + r * h), where r * h may be missing, or r alone times what is constant
  bool read_gru_new(const ElementSpan& s, RecurrentCell& cell) const {
    const auto inside = of_function(s, "tanh");
    if (!inside) return false;
    for (const auto& [of_input, of_state] : terms(*inside))
      for (const auto& [r, state] : factors(of_state)) {
        const auto reset = of_function(r, "sigmoid");
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
      const auto update = of_function(z, "sigmoid");
      if (!update || !read_gru_new(n, cell)) return false;
      cell.gates[1] = sum_of(*update);
      return cell.gates[1].has_value();
    };
    for (const auto& [kept, made] : terms(h)) {
      for (const auto& [z, before] : factors(kept)) {
        cell.h_before = before;
        for (const auto& [rest, n] : factors(made))
          if (complement(rest) == z && finish(z, n)) return cell;
        if (const auto apart = terms(before, -1); !apart.empty()) {
          cell.h_before = apart[0][0];
          if (apart[0][1] == made && finish(z, made)) return cell;
        }
      }
    }
    cell.h_before.reset();
    for (const auto& [rest, n] : factors(h))
      if (const auto z = complement(rest); z && finish(*z, n)) return cell;
    return std::nullopt;
  }

  std::optional<RecurrentCell> read_rnn(const ElementSpan& h) const {
    const auto inside = of_function(h, "tanh");
    auto sum = inside ? sum_of(*inside) : std::nullopt;
    if (!sum || sum->products.empty()) return std::nullopt;
    return RecurrentCell{CellKind::rnn, h.base, -1, {std::move(sum)}, {}, {}};
  }

  const Graph& g_;
  const Uses& uses_;
  ElementMoves& moves_;
};

}  // namespace

// By place of the mover's result: the element of its only operand.
const std::vector<i32>& ElementMoves::places(NodeId mover) {
  const auto known = places_.find(mover);
  if (known != places_.end()) return known->second;
  std::vector<i32>& places = places_[mover];
  const Node& node = g_.nodes[mover];
  if (!is_movement(node.op) || facts_of(node.op).values != Values::moved ||
      node.inputs.size() != 1 || node.outputs.size() != 1)
    return places;
  const Type x{DType::f32, g_.type(node.inputs[0]).shape, {}},
      y{DType::f32, g_.type(node.outputs[0]).shape, {}};
  if (x.elements() > kMostMoved || y.elements() > kMostMoved) return places;
  std::vector<float> numbers(static_cast<size_t>(x.elements())),
      order(static_cast<size_t>(y.elements()));
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  const HostTensor in{&x, numbers.data()}, out{&y, order.data()};
  execute(node.op, {&in, 1}, {&out, 1});
  for (const float at : order) places.push_back(static_cast<i32>(at));
  return places;
}

std::optional<ElementSpan> ElementMoves::before(NodeId mover, const ElementSpan& s) {
  const Node& node = g_.nodes[mover];
  std::vector<const Type*> types;
  if (node.outputs.size() != 1 || node.inputs.empty()) return std::nullopt;
  if (const auto first = view_of(node.op, g_.types(node.inputs, types)))
    return ElementSpan{node.inputs[0], *first + s.first, s.count};
  if (facts_of(node.op).storage == Storage::around_operands) {  // one behind the other
    i64 first = s.first;
    const Shape &part = g_.type(node.inputs[0]).shape, &all = g_.type(node.outputs[0]).shape;
    for (size_t k = 0; k < all.size() && part[k] == all[k]; ++k)
      if (all[k] != 1) return std::nullopt;
    for (const ValueId v : node.inputs) {
      const i64 elements = g_.type(v).elements();
      if (first < elements)
        return first + s.count <= elements ? std::optional(ElementSpan{v, first, s.count})
                                           : std::nullopt;
      first -= elements;
    }
  }
  const std::vector<i32>& from = places(mover);
  if (from.empty()) return std::nullopt;
  const auto at = [&](i64 k) { return from[static_cast<size_t>(s.first + k)]; };
  for (i64 k = 1; k < s.count; ++k)
    if (at(k) != at(0) + k) return std::nullopt;
  return ElementSpan{node.inputs[0], at(0), s.count};
}

ElementSpan ElementMoves::behind(ElementSpan span) {
  for (NodeId n; (n = uses_.producer[span.base]) >= 0;) {
    const auto moved = before(n, span);
    if (!moved) break;
    span = *moved;
  }
  return span;
}

bool ElementMoves::is_zero(const ElementSpan& s) const {
  if (!g_.is_constant(s.base) || g_.type(s.base).dtype != DType::f32) return false;
  const auto data = g_.values[s.base].constant->as<float>();
  return std::ranges::all_of(
      data.subspan(static_cast<size_t>(s.first), static_cast<size_t>(s.count)),
      [](float x) { return x == 0; });
}

std::optional<RecurrentCell> cell_at(const Graph& g, const Uses& uses, ElementMoves& moves,
                                     NodeId node) {
  const Node& n = g.nodes[node];
  if (g.type(n.outputs[0]).dtype != DType::f32) return std::nullopt;
  const CellReader reader(g, uses, moves);
  const RecurrentForm* form = recurrent_form(n.op);
  return form ? reader.read_layer(n, *form) : reader.read(node);
}

}  // namespace deuteron
