// LSTM, GRU and the plain RNN. Their weights are those of torch with the gates in another order.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "frontends/onnx_operators/compose.h"
#include "frontends/onnx_operators/import_table.h"

namespace deuteron::onnx {
namespace {

struct Kind {
  std::string_view op, target;
  std::vector<size_t> gates;             // torch's gate k is the model's gate gates[k]
  std::vector<std::string> activations;  // of one direction
  size_t states;
};
const Kind& kind_of(std::string_view op) {
  static const Kind kKinds[] = {{"LSTM", "aten.lstm.input", {0, 2, 3, 1}, {"Sigmoid", "Tanh", "Tanh"}, 2},  // i,o,f,c and i,f,c,o
                                {"GRU", "aten.gru.input", {1, 0, 2}, {"Sigmoid", "Tanh"}, 1},               // z,r,h and r,z,n
                                {"RNN", "aten.rnn_tanh.input", {0}, {"Tanh"}, 1}};
  return *std::find_if(std::begin(kKinds), std::end(kKinds), [&](const Kind& k) { return k.op == op; });
}

struct Layer {
  Kind kind;
  i64 hidden = 0, directions = 1, batch = 1, steps = 1;
  bool backward = false;
};

std::vector<std::string> activations_of(Call& c, const Kind& kind, i64 directions) {
  const Attribute* a = c.attribute("activations");
  std::vector<std::string> all;
  if (a) return a->kind == Attribute::Kind::texts ? a->texts : std::vector<std::string>{"?"};
  for (i64 d = 0; d < directions; ++d) all.insert(all.end(), kind.activations.begin(), kind.activations.end());
  return all;
}

void check_activations(Call& c, Layer& l) {
  const std::vector<std::string> given = activations_of(c, l.kind, l.directions);
  std::vector<std::string> wanted;
  if (l.kind.op == "RNN" && !given.empty() && given[0] == "Relu") l.kind.target = "aten.rnn_relu.input", l.kind.activations = {"Relu"};
  for (i64 d = 0; d < l.directions; ++d) wanted.insert(wanted.end(), l.kind.activations.begin(), l.kind.activations.end());
  c.require(given == wanted, "has activations that are not supported", fmt::format("{}", fmt::join(given, ",")),
            fmt::format("{}", fmt::join(wanted, ",")), "onnx.recurrent.activations");
}

Layer read_layer(Call& c, const Operand& x) {
  Layer l;
  l.kind = kind_of(c.op());
  const std::string direction = c.text("direction", "forward");
  l.directions = direction == "bidirectional" ? 2 : 1;
  l.backward = direction == "reverse";
  c.require(direction == "forward" || l.backward || l.directions == 2, "has an unknown direction", direction,
            "forward, reverse, bidirectional", "onnx.recurrent.direction");
  c.require(!c.has_attribute("clip"), "clips its gates, which is not supported", "clip", "none", "onnx.recurrent.clip");
  c.require(c.integer("layout", 0) == 0, "has the batch first, which is not supported", "layout 1", "0", "onnx.recurrent.layout");
  c.require(c.integer("input_forget", 0) == 0, "couples its gates, which is not supported", "input_forget 1", "0", "onnx.recurrent.gates");
  c.require(c.op() != "GRU" || c.integer("linear_before_reset", 0) != 0,
            "applies the reset gate before the product, which is not supported", "linear_before_reset 0", "1", "onnx.recurrent.reset");
  c.require(!(c.op() == "LSTM" && c.has(7)), "has peepholes, which are not supported", "P", "none", "onnx.recurrent.peepholes");
  check_activations(c, l);
  c.require(!c.ok() || c.rank(x) == 3, "takes x of rank 3", std::to_string(c.rank(x)), "3", "onnx.recurrent.rank");
  if (!c.ok()) return l;
  l.steps = c.shape(x)[0], l.batch = c.shape(x)[1];
  if (c.has(4)) {
    const std::vector<i64> lengths = c.integers_of(4, "lengths");
    c.require(std::all_of(lengths.begin(), lengths.end(), [&](i64 v) { return v == l.steps; }), "has sequences of several lengths",
              to_text(lengths), std::to_string(l.steps), "onnx.recurrent.lengths");
  }
  return l;
}

// The part of direction `d` of a weight [directions, gates*hidden, ..], its gates in torch's order.
Operand weight_of(Call& c, const Layer& l, size_t operand, i64 d, i64 first_gate, std::string_view name) {
  const Operand whole = c.operand(operand);
  const auto data = c.known_numbers(whole);
  c.require(!c.ok() || data.has_value(), "has weights that are computed from the model's inputs", "", "", "onnx.operand.constant");
  const Shape s = c.shape(whole);
  const i64 gates = static_cast<i64>(l.kind.gates.size()), block = operand == 3 ? 2 * gates : gates;
  c.require(!c.ok() || (s.size() == (operand == 3 ? 2u : 3u) && s[0] == l.directions && s[1] == block * l.hidden),
            "has weights of another shape", to_text(s), fmt::format("{},{},..", l.directions, block * l.hidden), "onnx.recurrent.weights");
  if (!c.ok()) return {};
  const i64 inner = operand == 3 ? 1 : s[2];
  std::vector<float> result;
  for (const size_t gate : l.kind.gates) {
    const auto from = data->begin() + ((d * block + first_gate + static_cast<i64>(gate)) * l.hidden) * inner;
    result.insert(result.end(), from, from + l.hidden * inner);
  }
  Shape shape{gates * l.hidden};
  if (operand != 3) shape.push_back(inner);
  return c.numbers(fmt::format("{}{}", name, d), shape, std::move(result));
}

Operand state_of(Call& c, const Layer& l, size_t operand, const char* name) {
  if (c.has(operand)) return c.operand(operand);
  if (!c.may_make(l.directions * l.batch * l.hidden)) return {};
  return c.numbers(name, {l.directions, l.batch, l.hidden}, std::vector<float>(static_cast<size_t>(l.directions * l.batch * l.hidden)));
}

}  // namespace

static void import_recurrent(Call& c) {
  Operand x = c.operand(0);
  Layer l = read_layer(c, x);
  const Shape w = c.shape(c.operand(2));
  l.hidden = c.integer("hidden_size", w.size() == 3 ? w[2] : 0);
  c.require(!c.ok() || (l.hidden >= 1 && l.hidden <= 1 << 20), "has a hidden_size out of range", std::to_string(l.hidden), "1..",
            "onnx.recurrent.weights");
  if (!c.ok()) return;
  std::vector<Operand> params;
  for (i64 d = 0; d < l.directions; ++d) {
    params.push_back(weight_of(c, l, 1, d, 0, "w"));
    params.push_back(weight_of(c, l, 2, d, 0, "r"));
    if (!c.has(3)) continue;
    params.push_back(weight_of(c, l, 3, d, 0, "wb"));
    params.push_back(weight_of(c, l, 3, d, static_cast<i64>(l.kind.gates.size()), "rb"));
  }
  const std::vector<i64> time{0};
  if (l.backward) x = c.torch("aten.flip.default", {{"self", x}, {"dims", time}}, "flipped");
  const Operand h = state_of(c, l, 5, "h0");
  Args args{{"input", x},
            {"params", params},
            {"has_biases", c.has(3)},
            {"num_layers", 1},
            {"dropout", 0.0},
            {"train", false},
            {"bidirectional", l.directions == 2},
            {"batch_first", false}};
  if (l.kind.states == 2) args.emplace_back("hx", std::vector<Operand>{h, state_of(c, l, 6, "c0")});
  else args.emplace_back("hx", h);
  const std::vector<Operand> y = c.torch_all(l.kind.target, std::move(args), l.kind.states + 1, "sequence");
  if (!c.ok()) return;
  if (c.wants(0)) {
    Operand sequence = y[0];
    if (l.backward) sequence = c.torch("aten.flip.default", {{"self", sequence}, {"dims", time}}, "in_order");
    sequence = view(c, sequence, {l.steps, l.batch, l.directions, l.hidden}, "directions");
    c.result(0, permuted(c, sequence, {0, 2, 1, 3}, ""));
  }
  for (size_t k = 1; k <= l.kind.states; ++k)
    if (c.wants(k)) c.result(k, y[k]);
}

static constexpr ImportRow kRecurrentRows[] = {
    {"GRU", import_recurrent},
    {"LSTM", import_recurrent},
    {"RNN", import_recurrent},
};
ImportRows recurrent_rows() { return kRecurrentRows; }

}  // namespace deuteron::onnx
