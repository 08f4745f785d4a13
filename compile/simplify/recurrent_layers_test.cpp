// SPDX-License-Identifier: Apache-2.0
// Recurrent layers that are written out step by step: random ones become one operator and compute
// the same, and where they must stay as they are.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "compile/calibrate/float_executor.h"
#include "compile/calibrate/test_graph.h"
#include "compile/compilation.h"
#include "compile/options.h"
#include "compile/pipeline.h"
#include "ir/text.h"
#include "targets/target.h"

namespace deuteron {
namespace {

// One layer as a loop writes it: where its steps lie, how sums are added and which zeros are left
// out is up to chance.
class LoopWriter {
 public:
  explicit LoopWriter(unsigned seed) : random_(seed) {}

  struct Layer {
    std::string x;  // [steps,inputs]
    int steps, inputs, units;
    bool reverse = false, given = false, list = false;
  };

  std::string text = "graph \"t\"\nsource 0 \"a\" \"aten.a.default\"\n";
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  std::string add(const std::string& op, const std::string& shape) {
    const std::string name = fmt::format("v{}", ++count_);
    text += fmt::format("{} = {} : f32[{}] from 0\n", name, op, shape);
    return name;
  }
  std::string constant(const std::string& shape, const std::string& data = {}) {
    const std::string name = fmt::format("c{}", ++count_);
    text += fmt::format("{} = const f32[{}] {}\n", name, shape,
                        data.empty() ? fmt::format("random({})", count_) : data);
    return name;
  }

  // kind: 0 lstm, 1 gru, 2 rnn. Returns the results of all steps, [1,units] each.
  std::vector<std::string> write(int kind, const Layer& l) {
    const int gates = kind == 0 ? 4 : kind == 1 ? 3 : 1, rows = gates * l.units;
    weight_ = constant(fmt::format("{},{}", rows, l.inputs));
    recurrent_ = constant(fmt::format("{},{}", rows, l.units));
    bias_ = constant(std::to_string(rows)), state_bias_ = constant(std::to_string(rows));
    bias_apart_ = pick(0, 1), form_ = pick(0, 2);
    joined_ = kind == 0 && pick(0, 2) == 0
                  ? constant(fmt::format("{},{}", rows, l.inputs + l.units))
                  : "";
    const std::string one_state = fmt::format("1,{}", l.units);
    std::string h = l.given ? "h0" : constant(one_state, "fill(0)"), c = h;
    if (l.given) text += fmt::format("input h0 : f32[{}]\n", one_state);
    const bool leaves_out = !l.given && joined_.empty() && pick(0, 1);
    inputs_ = l.inputs;
    std::vector<std::string> all;
    for (int k = 0; k < l.steps; ++k) {
      const int at = l.reverse ? l.steps - 1 - k : k;
      const std::string x =
          pick(0, 1) || l.x.empty()
              ? add(fmt::format("slice({}) axis=0 start={} count=1", l.x, at),
                    fmt::format("1,{}", l.inputs))
              : add(fmt::format("gather({}) index={}", l.x, at), fmt::format("1,{}", l.inputs));
      first_ = leaves_out && k == 0;
      if (kind == 0) std::tie(h, c) = lstm(x, h, c, l.units);
      else h = kind == 1 ? gru(x, h, l.units) : rnn(x, h, l.units);
      all.push_back(h);
    }
    return all;
  }

 private:
  std::string linear(const std::string& x, const std::string& w, const std::string& b, int rows) {
    const std::string shape = fmt::format("1,{}", rows);
    if (!bias_apart_) return add(fmt::format("linear({}, {}, {})", x, w, b), shape);
    return add(fmt::format("add({}, {})", add(fmt::format("linear({}, {})", x, w), shape), b),
               shape);
  }
  // What the state adds; in a step that leaves the zeros out, the bias alone.
  std::string of_state(const std::string& h, int rows) {
    return first_ ? add(fmt::format("reshape({}) shape=1,{}", state_bias_, rows),
                        fmt::format("1,{}", rows))
                  : linear(h, recurrent_, state_bias_, rows);
  }
  std::string part(const std::string& v, int k, int units) {
    return add(fmt::format("slice({}) axis=1 start={} count={}", v, k * units, units),
               shape(units));
  }
  static std::string shape(int units) { return fmt::format("1,{}", units); }
  std::string unary(const std::string& v, const char* fn, int units) {
    return add(fmt::format("unary({}) fn={}", v, fn), shape(units));
  }
  std::string pair(const char* op, std::string a, std::string b, int units) {
    if (pick(0, 1)) std::swap(a, b);
    return add(fmt::format("{}({}, {})", op, a, b), shape(units));
  }

  std::pair<std::string, std::string> lstm(const std::string& x, const std::string& h,
                                           const std::string& c, int units) {
    const int rows = 4 * units;
    std::string sums;
    if (joined_.empty() || first_) {
      sums = pair("add", linear(x, weight_, bias_, rows), of_state(h, rows), rows);
    } else {  // one matrix for both
      const bool x_first = form_ != 0;
      const std::string both =
          add(fmt::format("concat({}, {}) axis=1", x_first ? x : h, x_first ? h : x),
              fmt::format("1,{}", inputs_ + units));
      sums = linear(both, joined_, bias_, rows);
    }
    const std::string i = unary(part(sums, 0, units), "sigmoid", units),
                      g = unary(part(sums, 2, units), "tanh", units),
                      o = unary(part(sums, 3, units), "sigmoid", units);
    std::string cell = pair("mul", i, g, units);
    if (!first_) {
      const std::string f = unary(part(sums, 1, units), "sigmoid", units);
      cell = pair("add", pair("mul", f, c, units), cell, units);
    }
    return {pair("mul", o, unary(cell, "tanh", units), units), cell};
  }
  std::string gru(const std::string& x, const std::string& h, int units) {
    const int rows = 3 * units;
    const std::string in = linear(x, weight_, bias_, rows), state = of_state(h, rows);
    const auto gate = [&](int k) {
      return unary(pair("add", part(in, k, units), part(state, k, units), units), "sigmoid", units);
    };
    const std::string r = gate(0), z = gate(1);
    const std::string n =
        unary(pair("add", part(in, 2, units), pair("mul", r, part(state, 2, units), units), units),
              "tanh", units);
    if (form_ == 0 && !first_)  // n + z * (h - n)
      return pair(
          "add", n,
          pair("mul", z, add(fmt::format("add({}, {}) alpha=-1", h, n), shape(units)), units),
          units);
    const std::string one = constant(form_ == 1 ? shape(units) : "1", "fill(1)");
    const std::string fresh =
        pair("mul", add(fmt::format("add({}, {}) alpha=-1", one, z), shape(units)), n, units);
    return first_ ? fresh : pair("add", fresh, pair("mul", z, h, units), units);
  }
  std::string rnn(const std::string& x, const std::string& h, int units) {
    return unary(pair("add", linear(x, weight_, bias_, units), of_state(h, units), units), "tanh",
                 units);
  }

  std::mt19937 random_;
  std::string weight_, recurrent_, bias_, state_bias_, joined_;
  bool bias_apart_ = false, first_ = false;
  int form_ = 0, count_ = 0, inputs_ = 0;
};

std::vector<std::vector<float>> results(const Graph& g) {
  std::vector<std::vector<float>> inputs;
  for (const Port& port : g.inputs)
    inputs.push_back(random_floats(g.type(port.value).elements(), 7));
  return FloatExecutor(g).run(inputs, {});
}
Graph parsed(const std::string& text) {
  Diagnostics diagnostics;
  auto graph = parse(text, "test.txt", diagnostics);
  EXPECT_TRUE(graph) << format_diagnostic(diagnostics.list()[0]) << "\n" << text;
  return graph ? *graph : Graph{};
}
Graph with_layers(Graph g) {
  Diagnostics diagnostics;
  const Target target;
  const Samples samples;
  const CompileOptions options;
  Compilation result;
  i64 budget = 1 << 20;
  PassContext context{g, target, samples, options, result, diagnostics, &budget};
  EXPECT_TRUE(run_passes(context, "fold-constants", "find-recurrent"));
  return g;
}
size_t layers_of(const Graph& g) {
  return count_nodes<Lstm>(g) + count_nodes<Gru>(g) + count_nodes<Rnn>(g);
}
// The written-out steps and the layer that they have become agree.
void expect_layers(const std::string& text, size_t layers) {
  const Graph before = parsed(text), after = with_layers(before);
  EXPECT_EQ(layers_of(after), layers) << text;
  EXPECT_EQ(count_nodes<Unary>(after), 0U) << print(after);
  const auto expected = results(before), got = results(after);
  ASSERT_EQ(expected.size(), got.size());
  for (size_t o = 0; o < expected.size(); ++o)
    for (size_t k = 0; k < expected[o].size(); ++k)
      ASSERT_NEAR(expected[o][k], got[o][k], 2e-5) << text << print(after);
}

// What reads a layer: the last step, every step alone, or all of them joined as a loop joins them.
std::string read_by(LoopWriter& w, const std::vector<std::string>& steps, int units, int how) {
  const int count = static_cast<int>(steps.size());
  const std::string all = fmt::format("{},{}", count, units);
  if (how == 0) return steps.back();
  std::string list = w.constant(all, "fill(0)");
  if (how == 1) {
    std::string parts;
    for (const std::string& h : steps) parts += (parts.empty() ? "" : ", ") + h;
    return w.add(fmt::format("concat({}) axis=0", parts), all);
  }
  for (int k = 0; k < count; ++k) {
    std::string parts = steps[static_cast<size_t>(k)];
    if (k > 0)
      parts =
          w.add(fmt::format("slice({}) axis=0 count={}", list, k), fmt::format("{},{}", k, units)) +
          ", " + parts;
    if (k + 1 < count)
      parts += ", " +
               w.add(fmt::format("slice({}) axis=0 start={} count={}", list, k + 1, count - 1 - k),
                     fmt::format("{},{}", count - 1 - k, units));
    list = w.add(fmt::format("concat({}) axis=0", parts), all);
  }
  return list;
}

TEST(FindRecurrent, RandomLayersComputeTheSame) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    LoopWriter w(seed);
    const int steps = w.pick(2, 6), inputs = w.pick(1, 5), units = w.pick(1, 5);
    w.text += fmt::format("input x : f32[{},{}]\n", steps, inputs);
    const bool reverse = w.pick(0, 1), given = w.pick(0, 3) == 0;
    const auto h = w.write(w.pick(0, 2), {"x", steps, inputs, units, reverse, given});
    const int how = w.pick(0, 2);
    std::string y = read_by(w, h, units, how);
    size_t layers = 1;
    if (how > 0 && w.pick(0, 1)) {  // a second layer reads the first
      const int more = w.pick(1, 4);
      y = read_by(w, w.write(w.pick(0, 2), {y, steps, units, more, w.pick(0, 1) == 1}), more,
                  w.pick(0, 2));
      layers = 2;
    }
    expect_layers(w.text + "output " + y + "\n", layers);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(FindRecurrent, AnInputThatStaysTheSameIsRepeated) {
  LoopWriter w(1);
  w.text += "input x : f32[1,3]\n";
  const std::string all = w.add("gather(x) index=0,0,0,0", "4,3");
  const auto h = w.write(0, {all, 4, 3, 2});
  const std::string y = read_by(w, h, 2, 1);
  expect_layers(w.text + "output " + y + "\n", 1);
}

// As torch's cells come: each step is a layer of one step.
TEST(FindRecurrent, LayersOfOneStepAreOneLayer) {
  struct Kind {
    const char* op;
    int gates;
    bool has_cell, sequence;
  };
  for (const Kind& k : {Kind{"lstm", 4, true, true},
                        {"lstm", 4, true, false},
                        {"gru", 3, false, true},
                        {"gru", 3, false, false},
                        {"rnn", 1, false, true},
                        {"rnn", 1, false, false}}) {
    std::string text = fmt::format(
        "graph \"t\"\nsource 0 \"a\" \"aten.a.default\"\ninput x : f32[3,1,2]\n"
        "w = const f32[{0},2] random(1)\nu = const f32[{0},5] random(2)\n"
        "b = const f32[{0}] random(3)\nd = const f32[{0}] random(4)\n",
        5 * k.gates);
    for (int t = 0; t < 3; ++t) {
      text += fmt::format("x{0} = slice(x) axis=0 start={0} count=1 : f32[1,1,2] from 0\n", t);
      std::string names = fmt::format("h{}", t), before, types = "f32[1,1,5]";
      if (t > 0) before = fmt::format(", h{}", t - 1);
      if (k.sequence) names = fmt::format("y{}, ", t) + names, types += ", f32[1,1,5]";
      if (k.has_cell) names += fmt::format(", c{}", t), types += ", f32[1,1,5]";
      if (k.has_cell && t > 0) before += fmt::format(", c{}", t - 1);
      text += fmt::format("{} = {}(x{}, w, u, b, d{}){} : {} from 0\n", names, k.op, t, before,
                          k.sequence ? "" : " sequence=false", types);
    }
    text += fmt::format("all = concat({0}0, {0}1, {0}2) axis=0 : f32[3,1,5] from 0\noutput all\n",
                        k.sequence ? "y" : "h");
    expect_layers(text, 1);
  }
}

TEST(FindRecurrent, StepsThatWaitForResultsStay) {
  LoopWriter w(3);
  w.text += "input x : f32[1,2]\n";
  // each step takes what the one before has made of its state, as a decoder does
  const std::string weight = w.constant("2,2");
  const std::string first = w.write(2, {"x", 1, 2, 2})[0];
  const std::string text = w.text;
  const auto step = [&](const std::string& h, int k) {
    return fmt::format(
        "o{0} = linear({1}, {2}) : f32[1,2] from 0\na{0} = linear(o{0}, c2, c4) : f32[1,2] from 0\n"
        "b{0} = linear({1}, c3, c5) : f32[1,2] from 0\ns{0} = add(a{0}, b{0}) : f32[1,2] from 0\n"
        "h{0} = unary(s{0}) fn=tanh : f32[1,2] from 0\n",
        k, h, weight);
  };
  const Graph g =
      with_layers(parsed(text + step(first, 1) + step("h1", 2) + step("h2", 3) + "output h3\n"));
  EXPECT_EQ(layers_of(g), 0U);
}

TEST(FindRecurrent, AStepWithOtherWeightsIsNoPartOfTheLayer) {
  LoopWriter w(5);
  w.text += "input x : f32[4,2]\n";
  const auto h = w.write(2, {"x", 4, 2, 3});
  Graph g = parsed(w.text + "output " + h.back() + "\n");
  const auto last = std::find_if(g.nodes.rbegin(), g.nodes.rend(), [](const Node& n) {
    return std::holds_alternative<Linear>(n.op);
  });
  const Type type = g.type(last->inputs[1]);
  last->inputs[1] = g.add_value("other", type, constant_of(random_floats(type.elements(), 99)));
  const Graph after = with_layers(g);
  EXPECT_EQ(layers_of(after), 1U);
  EXPECT_EQ(count_nodes<Unary>(after), 1U);
  const auto expected = results(g), got = results(after);
  for (size_t k = 0; k < expected[0].size(); ++k) EXPECT_NEAR(expected[0][k], got[0][k], 2e-5);
}

TEST(FindRecurrent, ACellStateThatIsReadBetweenStepsKeepsThemApart) {
  LoopWriter w(8);
  w.text += "input x : f32[3,2]\n";
  const auto h = w.write(0, {"x", 3, 2, 2});
  const Graph g = parsed(w.text + "output " + h.back() + "\n");
  Graph read = g;
  for (const Node& node : g.nodes)
    if (const auto* unary = std::get_if<Unary>(&node.op);
        unary && unary->fn == UnaryFn::tanh && node.inputs[0] > 0) {
      // the first cell state, which its tanh reads
      const ValueId c = node.inputs[0];
      if (std::holds_alternative<Slice>(g.nodes[Uses(g).producer[c]].op)) continue;
      read.outputs.push_back({c, "c", {0, 1}});
      break;
    }
  ASSERT_EQ(read.outputs.size(), 2U);
  EXPECT_EQ(layers_of(with_layers(g)), 1U);
  EXPECT_EQ(layers_of(with_layers(read)), 0U);
}

}  // namespace
}  // namespace deuteron
