// SPDX-License-Identifier: Apache-2.0
// LSTM, GRU and the plain RNN. Their weights are those of torch with the gates in another order.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "frontends/onnx/operators/classical.h"
#include "frontends/onnx/operators/compose.h"
#include "frontends/onnx/operators/import_table.h"
#include "frontends/onnx/operators/layers.h"
#include "frontends/onnx/operators/recurrent_steps.h"

namespace deuteron::onnx {
namespace {

struct Kind {
  std::string_view op, target;
  std::vector<size_t> gates;             // torch's gate k is the model's gate gates[k]
  std::vector<std::string> activations;  // of one direction
  size_t states;
};
const Kind& kind_of(std::string_view op) {
  static const Kind kKinds[] = {
      {"LSTM",
       "aten.lstm.input",
       {0, 2, 3, 1},
       {"Sigmoid", "Tanh", "Tanh"},
       2},                                                           // i,o,f,c and i,f,c,o
      {"GRU", "aten.gru.input", {1, 0, 2}, {"Sigmoid", "Tanh"}, 1},  // z,r,h and r,z,n
      {"RNN", "aten.rnn_tanh.input", {0}, {"Tanh"}, 1}};
  return *std::find_if(std::begin(kKinds), std::end(kKinds),
                       [&](const Kind& k) { return k.op == op; });
}

struct Layer {
  Kind kind;
  i64 hidden = 0, directions = 1, batch = 1, steps = 1;
  bool backward = false;
  bool batch_first = false;   // of x, of the states and of the results
  bool resets_first = false;  // a GRU whose reset gate comes before the product
  bool couples = false;       // an LSTM whose forget gate is one minus its input gate
  double clip = 0;
  i64 whole_steps = 1;                // of the input; `steps` of them are read
  std::vector<Activation> functions;  // of all directions; empty: torch's own
  // What torch's layers do not have.
  bool is_odd(Call& c) const {
    return couples || clip > 0 || !functions.empty() || (kind.op == "LSTM" && c.has(7));
  }
};
constexpr i64 kMostWrittenOut = 128;  // steps of both directions: each becomes a dozen operators

// With the numbers of those that take some, in the order of the functions.
std::vector<Activation> activations_of(Call& c, const Kind& kind, i64 directions) {
  const Attribute* a = c.attribute("activations");
  if (!a) return {};
  const std::vector<float> alphas = numbers_listed(c, "activation_alpha"),
                           betas = numbers_listed(c, "activation_beta");
  const size_t wanted = kind.activations.size() * static_cast<size_t>(directions);
  c.require(a->texts.size() == wanted, "has another number of activations",
            std::to_string(a->texts.size()), std::to_string(wanted), "onnx.recurrent.activations");
  std::vector<Activation> all;
  size_t alpha = 0, beta = 0;
  for (const std::string& name : a->texts) {
    Activation f{name, {}};
    const bool has_both = name == "HardSigmoid" || name == "Affine" || name == "ScaledTanh",
               has_one = name == "LeakyRelu" || name == "ThresholdedRelu" || name == "Elu";
    if ((has_both || has_one) && alpha < alphas.size()) f.numbers.push_back(alphas[alpha++]);
    if (has_both && !f.numbers.empty() && beta < betas.size()) f.numbers.push_back(betas[beta++]);
    all.push_back(std::move(f));
  }
  return all;
}

void read_activations(Call& c, Layer& l) {
  l.functions = activations_of(c, l.kind, l.directions);
  const auto all_are = [&](const std::vector<std::string>& names) {
    for (size_t k = 0; k < l.functions.size(); ++k)
      if (l.functions[k].name != names[k % names.size()]) return false;
    return true;
  };
  if (l.kind.op == "RNN" && !l.functions.empty() && all_are({"Relu"}))
    l.kind.target = "aten.rnn_relu.input", l.functions.clear();
  else if (all_are(l.kind.activations)) l.functions.clear();
}

Layer read_layer(Call& c, const Operand& x) {
  Layer l;
  l.kind = kind_of(c.op());
  const std::string direction = c.text("direction", "forward");
  l.directions = direction == "bidirectional" ? 2 : 1;
  l.backward = direction == "reverse";
  c.require(direction == "forward" || l.backward || l.directions == 2, "has an unknown direction",
            direction, "forward, reverse, bidirectional", "onnx.recurrent.direction");
  l.clip = c.number("clip", 0);
  l.couples = l.kind.op == "LSTM" && c.integer("input_forget", 0) != 0;
  const i64 layout = c.integer("layout", 0);
  c.require(layout == 0 || layout == 1, "has an unknown layout", std::to_string(layout), "0, 1",
            "onnx.recurrent.layout");
  l.batch_first = layout == 1;
  l.resets_first = c.op() == "GRU" && c.integer("linear_before_reset", 0) == 0;
  read_activations(c, l);
  c.require(!c.ok() || c.rank(x) == 3, "takes x of rank 3", std::to_string(c.rank(x)), "3",
            "onnx.recurrent.rank");
  if (!c.ok()) return l;
  l.steps = c.shape(x)[l.batch_first ? 1 : 0], l.batch = c.shape(x)[l.batch_first ? 0 : 1];
  l.whole_steps = l.steps;
  if (c.has(4)) {
    const std::vector<i64> lengths = c.integers_of(4, "lengths");
    const i64 first = lengths.empty() ? 0 : lengths[0];
    c.require(std::ranges::all_of(lengths, [&](i64 v) { return v == first; }) && first >= 1 &&
                  first <= l.steps,
              "has sequences of several lengths", to_text(lengths), std::to_string(l.steps),
              "onnx.recurrent.lengths");
    l.steps = first;
  }
  const bool is_long = l.steps * l.directions > kMostWrittenOut;
  c.require(!l.resets_first || !is_long,
            "applies the reset gate before the product: its steps are written out, and there are "
            "too many",
            std::to_string(l.steps), std::to_string(kMostWrittenOut / l.directions),
            "onnx.recurrent.reset");
  c.require(!is_long || !l.is_odd(c),
            "has clipped or coupled gates, peepholes or activations of its own: its steps are "
            "written out, and there are too many",
            std::to_string(l.steps), std::to_string(kMostWrittenOut / l.directions),
            "onnx.recurrent.steps");
  return l;
}

// The part of direction `d` of a weight [directions, gates*hidden, ..], its gates in torch's order.
Operand weight_of(Call& c, const Layer& l, size_t operand, i64 d, i64 first_gate,
                  std::string_view name) {
  const Operand whole = c.operand(operand);
  const auto data = c.known_numbers(whole);
  c.require(!c.ok() || data.has_value(), "has weights that are computed from the model's inputs",
            "", "", "onnx.operand.constant");
  const Shape s = c.shape(whole);
  const i64 gates = static_cast<i64>(l.kind.gates.size()), block = operand == 3 ? 2 * gates : gates;
  c.require(!c.ok() || (s.size() == (operand == 3 ? 2u : 3u) && s[0] == l.directions &&
                        s[1] == block * l.hidden),
            "has weights of another shape", to_text(s),
            fmt::format("{},{},..", l.directions, block * l.hidden), "onnx.recurrent.weights");
  if (!c.ok()) return {};
  const i64 inner = operand == 3 ? 1 : s[2];
  std::vector<float> result;
  for (const size_t gate : l.kind.gates) {
    const auto from =
        data->begin() + ((d * block + first_gate + static_cast<i64>(gate)) * l.hidden) * inner;
    result.insert(result.end(), from, from + l.hidden * inner);
  }
  Shape shape{gates * l.hidden};
  if (operand != 3) shape.push_back(inner);
  return c.numbers(fmt::format("{}{}", name, d), shape, std::move(result));
}

// Between the layouts [batch, ..] and [.., batch, ..] of three axes.
Operand with_batch_second(Call& c, const Layer& l, const Operand& x, std::string_view suffix) {
  if (!c.ok() || !l.batch_first) return x;
  c.require(c.rank(x) == 3, "takes x and states of rank 3", std::to_string(c.rank(x)), "3",
            "onnx.recurrent.rank");
  return c.ok() ? permuted(c, x, {1, 0, 2}, suffix) : Operand{};
}

Operand state_of(Call& c, const Layer& l, size_t operand, const char* name) {
  if (c.has(operand)) return with_batch_second(c, l, c.operand(operand), name);
  if (!c.may_make(l.directions * l.batch * l.hidden)) return {};
  return c.numbers(name, {l.directions, l.batch, l.hidden},
                   std::vector<float>(static_cast<size_t>(l.directions * l.batch * l.hidden)));
}

void check_state(Call& c, const Layer& l, const Operand& h) {
  const Shape wanted{l.directions, l.batch, l.hidden};
  c.require(c.shape(h) == wanted, "an initial state does not fit the layer", to_text(c.shape(h)),
            to_text(wanted), "onnx.recurrent.states");
}

// The steps of one direction of a GRU, written out:
//   r, z = sigmoid(W x + b + U h + d);  n = tanh(W x + b + U (r * h) + d);  h = (1 - z) * n + z * h
// `weights` are those of torch's GRU, whose last product is r * (U h + d).
std::vector<Operand> gru_steps(Call& c, const Layer& l, const Operand& x,
                               const std::vector<Operand>& weights, Operand h, bool backward) {
  const i64 hidden = l.hidden, gates = 3 * hidden;
  const auto layer = [&](const Operand& in, const Operand& weight, const Operand& bias,
                         const char* suffix) {
    return fully_connected(c, in, weight, bias, suffix);
  };
  const Operand bias = weights.size() > 2 ? sum(c, weights[2], weights[3], "bias") : Operand{};
  const Operand seen = layer(x, weights[0], bias, "seen");
  const Operand seen_gates = sliced(c, seen, 2, 0, 2 * hidden, 1, "seen_gates");
  const Operand seen_new = sliced(c, seen, 2, 2 * hidden, gates, 1, "seen_new");
  const Operand of_gates = sliced(c, weights[1], 0, 0, 2 * hidden, 1, "gates_weight");
  const Operand of_new = sliced(c, weights[1], 0, 2 * hidden, gates, 1, "new_weight");
  h = view(c, h, {l.batch, hidden}, "h");
  std::vector<Operand> states(static_cast<size_t>(l.steps));
  for (i64 k = 0; k < l.steps && c.ok(); ++k) {
    const i64 t = backward ? l.steps - 1 - k : k;
    const auto at = [&](const Operand& all, i64 width, const char* suffix) {
      return view(c, sliced(c, all, 0, t, t + 1, 1, suffix), {l.batch, width}, suffix);
    };
    const Operand step_gates = at(seen_gates, 2 * hidden, "step"),
                  kept = layer(h, of_gates, {}, "kept");
    const Operand both =
        c.torch("aten.sigmoid.default", {{"self", sum(c, step_gates, kept, "both")}}, "gates");
    const Operand reset = sliced(c, both, 1, 0, hidden, 1, "reset"),
                  update = sliced(c, both, 1, hidden, 2 * hidden, 1, "update");
    const Operand left = layer(product(c, reset, h, "left"), of_new, {}, "left_part"),
                  step_new = at(seen_new, hidden, "step");
    const Operand fresh =
        c.torch("aten.tanh.default", {{"self", sum(c, step_new, left, "candidate")}}, "new");
    const Operand apart = difference(c, h, fresh, "apart");
    h = sum(c, fresh, product(c, update, apart, "held"), "state");
    states[static_cast<size_t>(t)] = view(c, h, {1, l.batch, hidden}, "state");
  }
  states.push_back(view(c, h, {1, l.batch, hidden}, "last"));
  return states;
}

// One part is the whole.
Operand whole_of(Call& c, const std::vector<Operand>& parts, i64 axis, const char* suffix) {
  return !c.ok() || parts.size() == 1 ? parts[0] : joined(c, parts, axis, suffix);
}

// As torch's: the sequence [steps, batch, directions * hidden] and the last states [directions,
// batch, hidden].
std::vector<Operand> gru_written_out(Call& c, const Layer& l, const Operand& x,
                                     const std::vector<Operand>& params, const Operand& h) {
  std::vector<Operand> sequences, last;
  const size_t each = params.size() / static_cast<size_t>(l.directions);
  for (i64 d = 0; d < l.directions && c.ok(); ++d) {
    const auto from = params.begin() + d * static_cast<std::ptrdiff_t>(each);
    const Operand first = l.directions == 1 ? h : sliced(c, h, 0, d, d + 1, 1, "h");
    std::vector<Operand> states =
        gru_steps(c, l, x, {from, from + static_cast<std::ptrdiff_t>(each)}, first, d == 1);
    last.push_back(states.back());
    states.pop_back();
    sequences.push_back(whole_of(c, states, 0, "sequence"));
  }
  if (!c.ok()) return {};
  return {whole_of(c, sequences, 2, "directions"), whole_of(c, last, 0, "last")};
}

// As torch's layers: the sequence, the last states, the last cells.
std::vector<Operand> odd_written_out(Call& c, const Layer& l, const Operand& x,
                                     const std::vector<Operand>& params,
                                     const std::vector<Operand>& first) {
  std::vector<std::vector<Operand>> last(l.kind.states);
  std::vector<Operand> sequences;
  const size_t each = params.size() / static_cast<size_t>(l.directions),
               names = l.kind.activations.size();
  const auto at = [&](const Operand& all, i64 d) {
    return l.directions == 1 ? all : sliced(c, all, 0, d, d + 1, 1, "first");
  };
  for (i64 d = 0; d < l.directions && c.ok(); ++d) {
    const Operand* p = params.data() + d * static_cast<std::ptrdiff_t>(each);
    Recurrence r;
    r.hidden = l.hidden, r.batch = l.batch, r.steps = l.steps, r.clip = l.clip;
    r.backward = d == 1, r.resets_first = l.resets_first, r.couples = l.couples;
    r.w = p[0], r.r = p[1];
    if (each == 4) r.wb = p[2], r.rb = p[3];
    if (l.kind.op == "LSTM" && c.has(7)) {
      const Operand all = c.operand(7);
      c.require(c.shape(all) == Shape{l.directions, 3 * l.hidden}, "has peepholes of another shape",
                to_text(c.shape(all)), to_text(Shape{l.directions, 3 * l.hidden}),
                "onnx.recurrent.peepholes");
      r.peepholes = view(c, at(all, d), {3 * l.hidden}, "peepholes");
    }
    for (size_t k = 0; k < names; ++k)
      r.functions.push_back(l.functions.empty() ? Activation{l.kind.activations[k], {}}
                                                : l.functions[static_cast<size_t>(d) * names + k]);
    const WrittenOut y =
        written_out(c, r, x, at(first[0], d), first.size() > 1 ? at(first[1], d) : Operand{});
    if (!c.ok()) return {};
    sequences.push_back(whole_of(c, y.states, 0, "sequence"));
    last[0].push_back(y.last);
    if (l.kind.states == 2) last[1].push_back(y.cell);
  }
  if (!c.ok()) return {};
  std::vector<Operand> all{whole_of(c, sequences, 2, "directions")};
  for (const std::vector<Operand>& l_ : last) all.push_back(whole_of(c, l_, 0, "last"));
  return all;
}

// Steps behind the length of the sequence are zeros.
Operand with_zeros_behind(Call& c, const Layer& l, const Operand& sequence) {
  const Shape shape{l.whole_steps - l.steps, l.batch, l.directions * l.hidden};
  if (shape[0] == 0 || !c.may_make(numel(shape))) return sequence;
  const Operand zeros =
      c.numbers("zeros", shape, std::vector<float>(static_cast<size_t>(numel(shape))));
  return joined(c, {sequence, zeros}, 0, "padded");
}

}  // namespace

static void import_recurrent(Call& c) {
  Operand x = c.operand(0);
  Layer l = read_layer(c, x);
  const Shape w = c.shape(c.operand(2));
  l.hidden = c.integer("hidden_size", w.size() == 3 ? w[2] : 0);
  c.require(!c.ok() || (l.hidden >= 1 && l.hidden <= 1 << 20), "has a hidden_size out of range",
            std::to_string(l.hidden), "1..", "onnx.recurrent.weights");
  if (!c.ok()) return;
  x = with_batch_second(c, l, x, "steps");
  if (l.steps < l.whole_steps) x = sliced(c, x, 0, 0, l.steps, 1, "read");
  std::vector<Operand> params;
  for (i64 d = 0; d < l.directions; ++d) {
    params.push_back(weight_of(c, l, 1, d, 0, "w"));
    params.push_back(weight_of(c, l, 2, d, 0, "r"));
    if (!c.has(3)) continue;
    params.push_back(weight_of(c, l, 3, d, 0, "wb"));
    params.push_back(weight_of(c, l, 3, d, static_cast<i64>(l.kind.gates.size()), "rb"));
  }
  if (l.backward) x = flipped(c, x, 0, "flipped");
  const Operand h = state_of(c, l, 5, "h0");
  Args args{{"input", x},
            {"params", params},
            {"has_biases", c.has(3)},
            {"num_layers", 1},
            {"dropout", 0.0},
            {"train", false},
            {"bidirectional", l.directions == 2},
            {"batch_first", false}};
  std::vector<Operand> first{h};
  if (l.kind.states == 2) first.push_back(state_of(c, l, 6, "c0"));
  if (l.kind.states == 2) args.emplace_back("hx", first);
  else args.emplace_back("hx", h);
  const bool is_odd = l.is_odd(c);
  if ((l.resets_first || is_odd) && c.ok())
    for (const Operand& state : first) check_state(c, l, state);
  if (!c.ok()) return;
  const std::vector<Operand> y =
      is_odd           ? odd_written_out(c, l, x, params, first)
      : l.resets_first ? gru_written_out(c, l, x, params, h)
                       : c.torch_all(l.kind.target, std::move(args), l.kind.states + 1, "sequence");
  if (!c.ok()) return;
  if (c.wants(0)) {
    Operand sequence = y[0];
    if (l.backward) sequence = flipped(c, sequence, 0, "in_order");
    sequence = with_zeros_behind(c, l, sequence);
    sequence = view(c, sequence, {l.whole_steps, l.batch, l.directions, l.hidden}, "directions");
    c.result(0, permuted(c, sequence, l.batch_first ? Axes{1, 0, 2, 3} : Axes{0, 2, 1, 3}, ""));
  }
  for (size_t k = 1; k <= l.kind.states; ++k)
    if (c.wants(k)) c.result(k, with_batch_second(c, l, y[k], "last"));
}

static constexpr ImportRow kRecurrentRows[] = {
    {"GRU", import_recurrent},
    {"LSTM", import_recurrent},
    {"RNN", import_recurrent},
};
ImportRows recurrent_rows() { return kRecurrentRows; }

}  // namespace deuteron::onnx
