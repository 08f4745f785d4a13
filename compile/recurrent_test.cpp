// SPDX-License-Identifier: Apache-2.0
// Recurrent layers from the float graph to the program: float results against torch, int8 against
// float, shapes and forms all different.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "compile/calibrate/float_executor.h"
#include "compile/compilation.h"
#include "compile/compile.h"
#include "compile/options.h"
#include "compile/quantize/recurrent.h"
#include "explain/report/accuracy.h"
#include "explain/report/program_report.h"
#include "targets/target.h"

namespace deuteron {
namespace {

struct Layer {
  const char* name;
  Op op;
  i64 gates, states;
  i64 steps, batch, inputs, units;
  bool initial;
};

RecurrentForm form(bool batch_first, bool bidirectional, bool reverse = false) {
  return {batch_first, reverse, bidirectional, true};
}

Graph graph_of(const Layer& k, const RecurrentForm& f, const std::vector<size_t>& wanted,
               uint32_t seed) {
  std::mt19937 bits(seed);
  const auto uniform = [&](float bound) {
    return (static_cast<float>(bits() >> 8) * 0x1p-23f - 1) * bound;
  };
  Graph g;
  g.name = k.name;
  g.sources.push_back({"layer", "aten.test", "", ""});
  const Shape x =
      f.batch_first ? Shape{k.batch, k.steps, k.inputs} : Shape{k.steps, k.batch, k.inputs};
  std::vector<ValueId> inputs{g.add_value("x", {DType::f32, x, {}})};
  const float bound = 1.5f / std::sqrt(static_cast<float>(k.units));
  for (i64 d = 0; d < f.directions(); ++d)
    for (const Shape& shape :
         {Shape{k.gates * k.units, k.inputs}, Shape{k.gates * k.units, k.units},
          Shape{k.gates * k.units}, Shape{k.gates * k.units}}) {
      std::vector<float> data(static_cast<size_t>(numel(shape)));
      for (float& v : data) v = uniform(bound);
      inputs.push_back(g.add_value("w", {DType::f32, shape, {}}, constant_of(std::move(data))));
    }
  g.inputs.push_back({inputs[0], "x", {0, 1, 2}});
  for (i64 s = 0; k.initial && s < k.states; ++s) {
    const ValueId v = g.add_value("s", {DType::f32, {f.directions(), k.batch, k.units}, {}});
    inputs.push_back(v);
    g.inputs.push_back({v, "s", {0, 1, 2}});
  }
  std::vector<const Type*> types;
  const auto results = infer(k.op, g.types(inputs, types));
  EXPECT_TRUE(results) << results.why.what;
  g.add_node(k.op, inputs, *results, "layer", {0});
  const std::vector<ValueId> outputs = g.nodes[0].outputs;
  for (const size_t w : wanted) g.outputs.push_back({outputs[w], "out", {0, 1, 2}});
  return g;
}

Samples samples_of(const Graph& g, size_t count, float initial) {
  std::mt19937 bits(7);
  Samples samples(count);
  for (auto& sample : samples)
    for (const Port& port : g.inputs) {
      std::vector<float> data(static_cast<size_t>(g.type(port.value).elements()));
      for (float& v : data)
        v = (static_cast<float>(bits() >> 8) * 0x1p-23f - 1) * (port.name == "x" ? 2.0f : initial);
      sample.push_back(std::move(data));
    }
  return samples;
}

std::vector<Layer> layers() {
  std::vector<Layer> list;
  for (const bool batch_first : {false, true})
    for (const bool both : {false, true})
      for (const bool initial : {false, true}) {
        list.push_back({"lstm", Lstm{form(batch_first, both), 0}, 4, 2, 13, 2, 5, 7, initial});
        list.push_back({"gru", Gru{form(batch_first, both)}, 3, 1, 13, 2, 5, 7, initial});
        list.push_back({"rnn", Rnn{form(batch_first, both), false}, 1, 1, 13, 2, 5, 7, initial});
        list.push_back({"rnn", Rnn{form(batch_first, both), true}, 1, 1, 5, 3, 4, 6, initial});
      }
  return list;
}

const RecurrentForm& form_of(const Op& op) {
  if (const auto* lstm = std::get_if<Lstm>(&op)) return lstm->form;
  if (const auto* gru = std::get_if<Gru>(&op)) return gru->form;
  return std::get<Rnn>(op).form;
}

std::vector<OperatorReport> operators_of(const Compilation& c) {
  Diagnostics diagnostics;
  return report_program(c, *find_target("cortex-m33", diagnostics)).operators;
}

std::optional<Compilation> compiled(Graph g, const Samples& samples) {
  Diagnostics diagnostics;
  const std::optional<Target> target = find_target("cortex-m33", diagnostics);
  auto c = compile(std::move(g), *target, samples, {}, diagnostics);
  for (const Diagnostic& d : diagnostics.list())
    if (d.severity == Severity::error)
      ADD_FAILURE() << d.what << " " << d.measured << " " << d.limit;
  return c;
}

TEST(Recurrent, EveryFormIsOneKernelThatIsCloseToFloat) {
  uint32_t seed = 1;
  for (const Layer& k : layers()) {
    const RecurrentForm& f = form_of(k.op);
    std::vector<size_t> all;
    for (i64 r = 0; r <= k.states; ++r) all.push_back(static_cast<size_t>(r));
    for (const std::vector<size_t>& wanted :
         {all, std::vector<size_t>{0}, std::vector<size_t>{1}}) {
      const Graph g = graph_of(k, f, wanted, seed++);
      const Samples samples = samples_of(g, 8, 0.9f);
      SCOPED_TRACE(testing::Message()
                   << k.name << " batch_first " << f.batch_first << " both " << f.bidirectional
                   << " initial " << k.initial << " wanted " << wanted.size() << wanted[0]);
      const auto c = compiled(g, samples);
      ASSERT_TRUE(c);
      int own = 0;
      for (const OperatorReport& o : operators_of(*c)) {
        own += !o.is_stock;
        EXPECT_EQ(o.placement, Placement::cortex_m) << o.op;
      }
      EXPECT_EQ(own, 1);
      EXPECT_GT(measure_accuracy(*c, samples, 1).sqnr_db, 30);
    }
  }
}

// Inputs of every range, weights with a scale of their own in each row: the scales must reach the
// kernel.
TEST(Recurrent, InitialStatesOutsideTheUsualRangeAreFollowed) {
  uint32_t seed = 50;
  for (const Layer& k : layers()) {
    if (!k.initial) continue;
    const Graph g = graph_of(k, form_of(k.op), {0, 1}, seed++);
    const Samples samples = samples_of(g, 8, 6.0f);
    const auto c = compiled(g, samples);
    ASSERT_TRUE(c);
    EXPECT_GT(measure_accuracy(*c, samples, 1).sqnr_db, 25) << k.name;
  }
}

// A model whose quantizer knew linear layers only: the recurrent one gets its ranges from samples,
// or runs in float.
TEST(Recurrent, AFloatLayerInAQuantizedModelTakesItsRangesFromSamples) {
  uint32_t seed = 80;
  for (const Layer& k : layers())
    for (const bool quantizes_y : {true, false}) {
      Graph g = graph_of(k, form_of(k.op), {0, 1}, seed++);
      const ValueId y = g.outputs[0].value, last = quantizes_y ? y : g.inputs[0].value;
      // wide enough for the states of a relu layer, which pass 4
      const Quant quant = per_tensor(1.0f / 24, 3);
      const ValueId steps = g.add_node(Quantize{quant}, {last},
                                       {Type{DType::s8, g.type(last).shape, quant}}, "steps", {0});
      const ValueId real = g.add_node(Dequantize{}, {steps},
                                      {Type{DType::f32, g.type(last).shape, {}}}, "real", {0});
      if (quantizes_y) g.outputs[0].value = real;
      else g.outputs.push_back({real, "x", {0, 1, 2}});
      SCOPED_TRACE(testing::Message() << k.name << " batch_first " << form_of(k.op).batch_first
                                      << " initial " << k.initial << " y " << quantizes_y);
      Diagnostics diagnostics;
      const Samples samples = samples_of(g, 8, 0.9f);
      const auto in_float =
          compile(g, *find_target("cortex-m33", diagnostics), {}, {}, diagnostics);
      ASSERT_TRUE(in_float);
      ASSERT_FALSE(diagnostics.list().empty());
      EXPECT_EQ(diagnostics.list()[0].rule, "recurrent.float");
      // The steps of the model's own quantizer are all that differs, where it rounds a float the
      // other way.
      EXPECT_LT(measure_accuracy(*in_float, samples, 1).max_abs_error, quant.scale[0] * 1.001);
      const auto c = compiled(g, samples);
      ASSERT_TRUE(c);
      const std::vector<OperatorReport> operators = operators_of(*c);
      EXPECT_EQ(std::count_if(operators.begin(), operators.end(),
                              [](const OperatorReport& o) { return !o.is_stock; }),
                1);
      EXPECT_GT(measure_accuracy(*c, samples, 1).sqnr_db, 25);
    }
}

// An unread sequence is not stored.
TEST(Recurrent, AnUnreadSequenceCostsTwoRows) {
  const Layer k{"lstm", Lstm{form(true, false), 0}, 4, 2, 100, 1, 3, 8, false};
  const Graph with = graph_of(k, form(true, false), {0}, 3),
              without = graph_of(k, form(true, false), {1}, 3);
  const Samples samples = samples_of(with, 2, 1);
  const auto a = compiled(with, samples), b = compiled(without, samples);
  ASSERT_TRUE(a && b);
  bool two_rows = false;
  for (const Node& node : b->graph.nodes)
    for (const ValueId v : node.outputs) {
      EXPECT_NE(b->graph.type(v).bytes(), 800);
      two_rows = two_rows || b->graph.type(v).bytes() == 16;
    }
  EXPECT_TRUE(two_rows);
}

TEST(Recurrent, ACellStateThatGrowsForALongTimeHasRoom) {
  // Forget and input gates open, candidates at 1: c grows by one a step.
  Graph g;
  g.name = "counter";
  g.sources.push_back({"layer", "aten.test", "", ""});
  std::vector<ValueId> inputs{g.add_value("x", {DType::f32, {60, 1, 1}, {}})};
  g.inputs.push_back({inputs[0], "x", {0, 1, 2}});
  const auto constant = [&](Shape shape, std::vector<float> data) {
    inputs.push_back(
        g.add_value("w", {DType::f32, std::move(shape), {}}, constant_of(std::move(data))));
  };
  constant({4, 1}, {0, 0, 9, 0});
  constant({4, 1}, {0, 0, 0, 0});
  constant({4}, {9, 9, 0, -3});
  constant({4}, {0, 0, 0, 0});
  std::vector<const Type*> types;
  const Op op = Lstm{form(false, false), 0};
  const auto results = infer(op, g.types(inputs, types));
  ASSERT_TRUE(results);
  g.add_node(op, inputs, *results, "layer", {0});
  const std::vector<ValueId> outputs = g.nodes[0].outputs;
  g.outputs.push_back({outputs[2], "c", {0, 1, 2}});
  const Samples samples(4, {std::vector<float>(60, 1.0f)});
  const auto c = compiled(g, samples);
  ASSERT_TRUE(c);
  // Of 60: a step of c_n is 0.24, and each of 60 updates loses up to 2^-12 of c to the gates.
  // Without room it would be tens.
  EXPECT_LT(measure_accuracy(*c, samples, 1).max_abs_error, 0.24 / 2 + 60 * 30 * 0x1p-12);
}

}  // namespace
}  // namespace deuteron
