// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and the plain RNN of torch.nn: one node for each layer, both directions in it.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/pt2/operators/import_table.h"

namespace deuteron::pt2 {
namespace {

struct Layers {
  i64 count = 0;
  RecurrentForm form;
  ValueId x = -1;
  std::vector<ValueId>
      weights;  // of all layers: input weight, state weight and two biases for each direction
  std::vector<ValueId> states;       // h, or h and c, of all layers; empty: zeros
  std::vector<ValueId> projections;  // of an LSTM with proj_size, one for each direction
};

// Of h = P m the recurrence knows m: U h = (U P) m, with rows of U [rows, p] and P [p, units].
ValueId through_projection(Call& c, ValueId u, ValueId p, i64 k) {
  const auto a = c.known_numbers(u), b = c.known_numbers(p);
  const Shape rows = c.shape(u), units = c.shape(p);
  c.require(!c.ok() || (a && b && rows.size() == 2 && units.size() == 2 && rows[1] == units[0]),
            "has a projection that does not fit its weights", to_text(units), to_text(rows),
            "pt2.recurrent.projection");
  constexpr i64 kMostProducts = i64{1} << 32;
  c.require(!c.ok() || rows[0] * units[1] <= kMostProducts / rows[1],
            "has a projection of too many products",
            fmt::format("{} x {} x {}", rows[0], rows[1], units[1]), std::to_string(kMostProducts),
            "pt2.recurrent.projection");
  if (!c.ok()) return -1;
  std::vector<float> result(static_cast<size_t>(rows[0] * units[1]));
  for (i64 r = 0; r < rows[0]; ++r)
    for (i64 h = 0; h < units[1]; ++h) {
      double sum = 0;
      for (i64 i = 0; i < rows[1]; ++i)
        sum += static_cast<double>((*a)[static_cast<size_t>(r * rows[1] + i)]) *
               (*b)[static_cast<size_t>(i * units[1] + h)];
      result[static_cast<size_t>(r * units[1] + h)] = static_cast<float>(sum);
    }
  return c.constant(fmt::format("state_weight{}", k), {rows[0], units[1]}, std::move(result));
}

bool is_zero(Call& c, ValueId v) {
  if (!c.is_constant(v)) return false;
  const auto data = c.graph().values[v].constant->as<float>();
  return std::all_of(data.begin(), data.end(), [](float x) { return x == 0; });
}

Layers read_layers(Call& c, i64 states) {
  Layers l;
  l.x = c.tensor("input");
  l.count = c.integer("num_layers");
  l.form.bidirectional = c.boolean("bidirectional");
  l.form.batch_first = c.boolean("batch_first");
  const bool biases = c.boolean("has_biases");
  if (c.boolean("train") && c.number("dropout") != 0 && l.count > 1)
    c.refuse({"drops values at random between its layers: the model was exported in training mode",
              "", "", "pt2.dropout.training"},
             "call model.eval() before torch.export.export");
  if (states > 1) l.states = c.tensors("hx");
  else l.states = {c.tensor("hx")};
  const std::vector<ValueId> params = c.tensors("params");
  if (!c.ok()) return l;
  c.require(static_cast<i64>(l.states.size()) == states, "has another number of initial states",
            std::to_string(l.states.size()), std::to_string(states), "pt2.recurrent.states");
  const auto given = static_cast<i64>(params.size());
  const bool projects = c.ok() && states > 1 && c.shape(l.states[0]) != c.shape(l.states[1]);
  const i64 directions = l.form.directions(), own = biases ? 4 : 2, each = own + projects;
  const bool from_zero =
      c.ok() && std::ranges::all_of(l.states, [&](ValueId v) { return is_zero(c, v); });
  if (projects && !from_zero)
    return c.refuse({"an LSTM with a projection (proj_size) that begins with a state",
                     to_text(c.shape(l.states[0])), "none", "pt2.recurrent.projection"},
                    "leave proj_size out and put a linear layer behind the LSTM"),
           l;
  c.require(
      l.count >= 1 && given % (directions * each) == 0 && given / (directions * each) == l.count,
      "does not have the weights of its layers", std::to_string(given),
      fmt::format("{} * {}", l.count, directions * each), "pt2.recurrent.weights");
  for (i64 k = 0; c.ok() && k < given; k += each) {
    for (i64 w = 0; w < each; ++w) {
      if (!c.is_derived_from_constants(params[k + w]))
        return c.refuse({"has a weight that is computed from the model's inputs, it has to be a "
                         "parameter",
                         "", "", "pt2.operand.parameter"}),
               l;
      if (w >= own) l.projections.push_back(params[k + w]);
      else
        l.weights.push_back(projects && w == 1
                                ? through_projection(c, params[k + 1], params[k + own], k / each)
                                : params[k + w]);
    }
    if (biases) continue;
    const i64 rows = c.rank(params[k]) == 2 ? c.shape(params[k])[0] : 0;
    const ValueId zeros =
        c.constant(fmt::format("bias{}", k / each), {rows},
                   std::vector<float>(static_cast<size_t>(std::max<i64>(rows, 0))));
    l.weights.insert(l.weights.end(), {zeros, zeros});
  }
  if (c.ok() && c.rank(l.x) != 3)
    c.refuse({"takes x of rank 3", std::to_string(c.rank(l.x)), "3", "pt2.recurrent.rank"});
  if (from_zero) l.states.clear();
  return l;
}

// The part of layer `layer` of a state [layers * directions,n,units].
ValueId part_of(Call& c, const Layers& l, ValueId state, i64 layer, size_t which) {
  if (!c.ok() || l.count == 1) return state;
  const i64 directions = l.form.directions();
  c.require(c.rank(state) == 3 && c.shape(state)[0] == l.count * directions,
            "an initial state does not fit the layers", to_text(c.shape(state)),
            fmt::format("{},n,units", l.count * directions), "pt2.recurrent.states");
  return c.ok() ? c.add(Slice{0, layer * directions, directions, 1}, {state},
                        fmt::format("state{}.layer{}", which, layer))
                : -1;
}

// Each direction, along an axis, times its projection.
ValueId projected(Call& c, const Layers& l, ValueId x, i64 layer, i64 axis,
                  const std::string& suffix) {
  if (l.projections.empty() || !c.ok()) return x;
  const i64 directions = l.form.directions(), extent = c.shape(x)[axis] / directions;
  std::vector<ValueId> parts;
  for (i64 d = 0; d < directions && c.ok(); ++d) {
    const ValueId part = directions == 1 ? x
                                         : c.add(Slice{axis, d * extent, extent, 1}, {x},
                                                 fmt::format("{}_direction{}", suffix, d));
    parts.push_back(c.add(Linear{},
                          {part, l.projections[static_cast<size_t>(layer * directions + d)]},
                          fmt::format("{}_projected{}", suffix, d)));
  }
  return parts.size() == 1 ? parts[0] : c.add(Concat{axis}, parts, suffix + "_projected");
}

void build(Call& c, i64 states, Op (*make)(const RecurrentForm&, std::string_view)) {
  const Layers l = read_layers(c, states);
  const i64 each = kWeightsOfADirection * l.form.directions();
  ValueId x = l.x;
  std::vector<std::vector<ValueId>> finals(static_cast<size_t>(states));
  for (i64 layer = 0; layer < l.count && c.ok(); ++layer) {
    std::vector<ValueId> inputs{x};
    inputs.insert(inputs.end(), l.weights.begin() + layer * each,
                  l.weights.begin() + (layer + 1) * each);
    for (size_t s = 0; s < l.states.size(); ++s)
      inputs.push_back(part_of(c, l, l.states[s], layer, s));
    const bool last = layer + 1 == l.count;
    const std::vector<ValueId> results =
        c.add_all(make(l.form, c.operator_name()), std::move(inputs),
                  last ? "" : fmt::format("layer{}", layer));
    if (!c.ok()) return;
    const std::string name = fmt::format("layer{}", layer);
    x = projected(c, l, results[0], layer, 2, name);
    for (size_t s = 0; s < finals.size(); ++s)
      finals[s].push_back(s > 0 ? results[s + 1]
                                : projected(c, l, results[1], layer, 0, name + "_state"));
  }
  if (!c.ok()) return;
  c.result(x);
  for (size_t s = 0; s < finals.size(); ++s)
    if (l.count == 1) c.result(s + 1, finals[s][0]);
    else if (c.is_read(s + 1))
      c.result(s + 1, c.add(Concat{0}, finals[s], fmt::format("state{}", s)));
}

// One step of one layer, x [n,inputs]: a layer with a sequence of one step. Only the states come
// out.
void build_cell(Call& c, i64 count, Op (*make)(const RecurrentForm&, std::string_view)) {
  std::vector<ValueId> inputs{c.tensor("input")}, states;
  if (count > 1) states = c.tensors("hx");
  else states = {c.tensor("hx")};
  for (const char* weight : {"w_ih", "w_hh"}) inputs.push_back(c.parameter(weight));
  const i64 rows = c.rank(inputs[1]) == 2 ? c.shape(inputs[1])[0] : 0;
  for (const char* bias : {"b_ih", "b_hh"})
    inputs.push_back(c.has(bias)
                         ? c.parameter(bias)
                         : c.constant(bias, {rows}, std::vector<float>(static_cast<size_t>(rows))));
  c.require(!c.ok() || (c.rank(inputs[0]) == 2 && static_cast<i64>(states.size()) == count),
            "takes x of rank 2 and its states", std::to_string(c.rank(inputs[0])), "2",
            "pt2.recurrent.rank");
  for (size_t s = 0; s < states.size() && c.ok(); ++s)
    c.require(c.rank(states[s]) == 2, "takes states of rank 2", std::to_string(c.rank(states[s])),
              "2", "pt2.recurrent.rank");
  if (!c.ok()) return;
  const auto one_step = [&c](ValueId v, std::string_view suffix) {
    return c.reshape(v, {1, c.shape(v)[0], c.shape(v)[1]}, suffix);
  };
  inputs[0] = one_step(inputs[0], "step");
  const bool zeros =
      std::all_of(states.begin(), states.end(), [&](ValueId v) { return is_zero(c, v); });
  for (size_t s = 0; s < states.size() && !zeros; ++s)
    inputs.push_back(one_step(states[s], fmt::format("state{}", s)));
  const std::vector<ValueId> results =
      c.add_all(make({}, c.operator_name()), std::move(inputs), "layer");
  for (size_t s = 0; s < states.size() && c.ok(); ++s) {
    const Shape& shape = c.shape(results[s + 1]);
    c.result(s, c.reshape(results[s + 1], {shape[1], shape[2]}, s == 0 ? "" : "cell"));
  }
}

Op lstm_of(const RecurrentForm& form, std::string_view) { return Lstm{form, 0}; }
Op gru_of(const RecurrentForm& form, std::string_view) { return Gru{form}; }
Op rnn_of(const RecurrentForm& form, std::string_view name) {
  return Rnn{form, name.starts_with("rnn_relu")};
}

}  // namespace

static void import_lstm(Call& c) { build(c, 2, lstm_of); }
static void import_gru(Call& c) { build(c, 1, gru_of); }
static void import_rnn(Call& c) { build(c, 1, rnn_of); }
static void import_lstm_cell(Call& c) { build_cell(c, 2, lstm_of); }
static void import_gru_cell(Call& c) { build_cell(c, 1, gru_of); }
static void import_rnn_cell(Call& c) { build_cell(c, 1, rnn_of); }

static constexpr ImportRow kRecurrentRows[] = {
    {"aten.gru.input", import_gru},      {"aten.gru_cell.default", import_gru_cell},
    {"aten.lstm.input", import_lstm},    {"aten.lstm_cell.default", import_lstm_cell},
    {"aten.rnn_relu.input", import_rnn}, {"aten.rnn_relu_cell.default", import_rnn_cell},
    {"aten.rnn_tanh.input", import_rnn}, {"aten.rnn_tanh_cell.default", import_rnn_cell},
};
ImportRows recurrent_rows() { return kRecurrentRows; }

}  // namespace deuteron::pt2
