// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/quantization_search.h"

#include <algorithm>

#include "compile/calibrate/float_executor.h"
#include "compile/calibrate/test_graph.h"
#include "compile/quantize/equalize.h"
#include "compile/quantize/test_quantized.h"

#pragma GCC diagnostic ignored \
    "-Wmissing-field-initializers"  // attributes that a case does not name keep their defaults

namespace deuteron {
namespace {

// A small separable network whose channels differ widely in range: conv, relu, pad, depthwise,
// relu, conv, pool, linear, softmax.
TestGraph separable() {
  TestGraph t;
  const ValueId x = t.input("x", {1, 9, 8, 3});
  std::vector<float> w = random_floats(12 * 27, 1), b = random_floats(12, 2);
  for (size_t i = 0; i < w.size(); ++i)
    w[i] *= std::exp2(-static_cast<float>(i / 27) /
                      2);  // channel 11 is 45 times smaller than channel 0
  for (size_t i = 0; i < b.size(); ++i) b[i] *= std::exp2(-static_cast<float>(i) / 2);
  std::vector<float> dw = random_floats(12 * 9, 3);
  for (size_t i = 0; i < dw.size(); ++i) dw[i] *= std::exp2(static_cast<float>(i / 9) / 2);
  const Conv2d same{.pad_before = {1, 1}, .pad_after = {1, 1}, .bounds = {.low = 0}};
  Conv2d depthwise{.groups = 12, .bounds = {.low = 0}};
  const ValueId first =
      t.node("first", same, {x, t.constant("w", {12, 3, 3, 3}, w), t.constant("b", {12}, b)});
  const ValueId padded = t.node("padded", Pad{{0, 1, 1, 0}, {0, 1, 1, 0}, 0}, {first});
  const ValueId second = t.node(
      "second", depthwise,
      {padded, t.constant("dw", {12, 3, 3, 1}, dw), t.constant("db", {12}, random_floats(12, 4))});
  const ValueId third = t.node("third", Conv2d{},
                               {second, t.constant("pw", {7, 1, 1, 12}, random_floats(84, 5)),
                                t.constant("pb", {7}, random_floats(7, 6))});
  const ValueId mean = t.node("mean", AvgPool2d{.kernel = {9, 8}, .stride = {9, 8}}, {third});
  const ValueId flat = t.node("flat", Reshape{{1, 7}}, {mean});
  const ValueId logits = t.node("logits", Linear{},
                                {flat, t.constant("fc", {5, 7}, random_floats(35, 7)),
                                 t.constant("fb", {5}, random_floats(5, 8))});
  t.output(t.node("y", Softmax{1}, {logits}));
  return t;
}

TEST(Equalize, KeepsTheFunctionAndEvensTheRanges) {
  const TestGraph t = separable();
  const Samples samples = samples_of(t.g, 8, -1, 1, 900);
  Diagnostics diagnostics;
  const auto seen = observe(t.g, samples, 1, diagnostics);
  ASSERT_TRUE(seen);
  for (const float power : {0.5f, 1.0f}) {
    Graph equal = t.g;
    EXPECT_EQ(equalize_channels(equal, *seen, Equalize::depthwise, power), 1);
    EXPECT_FALSE(find_fault(equal));
    EXPECT_GT(sqnr(t.g, equal, samples), 110);
    const auto after = observe(equal, samples, 1, diagnostics);
    ASSERT_TRUE(after);
    const auto spread = [](const std::vector<float>& most) {
      return *std::ranges::max_element(most) / *std::ranges::min_element(most);
    };
    const float before = spread(channel_most((*seen)[find_value(t.g, "first")])),
                now = spread(channel_most((*after)[find_value(equal, "first")]));
    EXPECT_NEAR(now, std::pow(before, 1 - power), 0.01 * before) << before;
  }
}

// What the groups are: how many, of the graph after `edit`.
int groups_of(Equalize which, auto edit) {
  TestGraph t = separable();
  edit(t);
  Diagnostics diagnostics;
  const auto seen = observe(t.g, samples_of(t.g, 2, -1, 1, 900), 1, diagnostics);
  return equalize_channels(t.g, *seen, which, 0.5f);
}

TEST(Equalize, RefusesWhatItWouldChange) {
  const auto changed = [](auto edit) { return groups_of(Equalize::depthwise, edit); };
  EXPECT_EQ(changed([](TestGraph&) {}), 1);
  EXPECT_EQ(changed([](TestGraph& t) { std::get<Conv2d>(t.g.nodes[0].op).bounds = {-1, 6}; }), 0);
  EXPECT_EQ(changed([](TestGraph& t) { std::get<Conv2d>(t.g.nodes[0].op).bounds.low = 0.5f; }), 0);
  EXPECT_EQ(changed([](TestGraph& t) { std::get<Pad>(t.g.nodes[1].op).value = 1; }), 0);
  EXPECT_EQ(changed([](TestGraph& t) { t.output(find_value(t.g, "first")); }), 0);
  EXPECT_EQ(changed([](TestGraph& t) { t.output(find_value(t.g, "padded")); }), 0);
}

// With every channel that can be scaled, in so many groups.
Graph equalized(const Graph& g, const Samples& samples, float power, int groups) {
  Diagnostics diagnostics;
  const auto seen = observe(g, samples, 1, diagnostics);
  Graph equal = g;
  EXPECT_TRUE(seen) << "not observed";
  EXPECT_EQ(seen ? equalize_channels(equal, *seen, Equalize::all, power) : -1, groups);
  return equal;
}

TEST(Equalize, GoesThroughPoolsAndReshapesToTheLinearLayer) {
  // first and padded; second; third, mean and flat
  EXPECT_EQ(groups_of(Equalize::all, [](TestGraph&) {}), 3);
  EXPECT_EQ(groups_of(Equalize::all, [](TestGraph& t) { t.output(find_value(t.g, "mean")); }), 2);
  EXPECT_EQ(groups_of(Equalize::all,
                      [](TestGraph& t) {
                        t.output(t.node("s", Softmax{3}, {find_value(t.g, "third")}));
                      }),
            2);
  TestGraph t = separable();
  const Samples samples = samples_of(t.g, 8, -1, 1, 900);
  const Graph equal = equalized(t.g, samples, 0.5f, 3);
  EXPECT_FALSE(find_fault(equal));
  EXPECT_GT(sqnr(t.g, equal, samples), 110);
}

// A block with a shortcut: a, then b, c = a + b, d. Channel k of a is 2^-k.
TestGraph shortcut(Bounds bounds, float gain) {
  TestGraph t;
  const ValueId x = t.input("x", {2, 5, 4, 3});
  std::vector<float> w = random_floats(18, 1), v = random_floats(36, 2);
  for (size_t i = 0; i < w.size(); ++i) w[i] *= gain * std::exp2(-static_cast<float>(i / 3));
  for (size_t i = 0; i < v.size(); ++i)
    v[i] *= std::exp2(static_cast<float>(i % 6) - static_cast<float>(i / 6));
  const ValueId a = t.node("a", Conv2d{.bounds = bounds}, {x, t.constant("w", {6, 1, 1, 3}, w)});
  const ValueId b = t.node("b", Conv2d{}, {a, t.constant("v", {6, 1, 1, 6}, v)});
  const ValueId c = t.node("c", Add{}, {a, b});
  t.output(t.node("d", Conv2d{}, {c, t.constant("u", {4, 1, 1, 6}, random_floats(24, 3))}));
  return t;
}

TEST(Equalize, ScalesBothBranchesOfAShortcutAlike) {
  const TestGraph t = shortcut({}, 1);
  const Samples samples = samples_of(t.g, 4, -1, 1, 900);
  const Graph equal = equalized(t.g, samples, 1, 1);
  EXPECT_GT(sqnr(t.g, equal, samples), 110);
  Diagnostics diagnostics;
  const auto seen = observe(t.g, samples, 1, diagnostics),
             after = observe(equal, samples, 1, diagnostics);
  ASSERT_TRUE(seen && after);
  const auto spread = [](const std::vector<float>& most) {
    return *std::ranges::max_element(most) / *std::ranges::min_element(most);
  };
  EXPECT_GT(spread(channel_most((*seen)[find_value(t.g, "c")])), 8);
  EXPECT_LT(spread(channel_most((*after)[find_value(equal, "c")])), 2);
}

TEST(Equalize, CutsNoSampleAtTheBoundsOfRelu6) {
  for (const float gain : {0.5f, 4.0f, 64.0f}) {  // below the bound; at it in one channel; in most
    const TestGraph t = shortcut({0, 6}, gain);
    const Samples samples = samples_of(t.g, 4, -1, 1, 900);
    EXPECT_GT(sqnr(t.g, equalized(t.g, samples, 1, 1), samples), 110) << gain;
  }
}

TEST(QuantizationSearch, IsBetterThanEitherObserverOnOtherDataAndReportsItsChoice) {
  const TestGraph t = separable();
  const Samples samples = samples_of(t.g, 16, -1, 1, 900),
                others = samples_of(t.g, 64, -1, 1, 5000);
  double best = 0;
  for (const Observer observer : {Observer::min_max, Observer::histogram}) {
    Graph g = t.g;
    Diagnostics diagnostics;
    const auto choice = calibrate_and_quantize(g, samples, {.observer = observer}, 2, diagnostics);
    ASSERT_TRUE(choice);
    EXPECT_EQ(choice->policy, observer == Observer::min_max ? "min/max" : "histogram");
    EXPECT_EQ(choice->simulations, 0);
    EXPECT_FALSE(choice->held_out);
    best = std::max(best, sqnr(t.g, g, others));
  }
  Graph g = t.g;
  Diagnostics diagnostics;
  const auto choice = calibrate_and_quantize(g, samples, {}, 2, diagnostics);
  ASSERT_TRUE(choice);
  EXPECT_FALSE(find_fault(g));
  EXPECT_TRUE(diagnostics.list().empty());
  EXPECT_GT(choice->simulations, 10);
  EXPECT_NEAR(choice->sqnr_db, sqnr(t.g, g, samples),
              1e-6);  // what it promises is what the graph gives
  EXPECT_GT(sqnr(t.g, g, others), best + 1);
  ASSERT_TRUE(choice->held_out);
  EXPECT_NEAR(choice->held_out->db, sqnr(t.g, g, others), 3);
  EXPECT_LE(choice->held_out->low_db, choice->held_out->db);
  EXPECT_GE(choice->held_out->high_db, choice->held_out->db);
  EXPECT_FALSE(choice->policy.empty());
}

// All channels alike: nothing is lost by one scale for them.
TEST(QuantizationSearch, GivesLinearLayersOneScaleWhereThatIsAskedFor) {
  TestGraph t;
  const std::vector<float> row = random_floats(16, 7);
  std::vector<float> w;
  for (int channel = 0; channel < 6; ++channel) w.insert(w.end(), row.begin(), row.end());
  t.output(t.node("y", Linear{}, {t.input("x", {1, 16}), t.constant("w", {6, 16}, w)}));
  const Samples samples = samples_of(t.g, 8, -1, 1, 900);
  using enum LinearWeights;
  for (const LinearWeights asked : {by_channel, by_tensor, searched}) {
    Graph g = t.g;
    Diagnostics diagnostics;
    const auto choice =
        calibrate_and_quantize(g, samples, {.linear_weights = asked}, 1, diagnostics);
    ASSERT_TRUE(choice);
    const auto linear = std::ranges::find_if(
        g.nodes, [](const Node& n) { return std::holds_alternative<Linear>(n.op); });
    ASSERT_NE(linear, g.nodes.end());
    const Node& dequantize = g.nodes[static_cast<size_t>(Uses(g).producer[linear->inputs[1]])];
    EXPECT_EQ(g.type(dequantize.inputs[0]).quant.axis, asked == by_channel ? 0 : -1);
    EXPECT_EQ(choice->policy.find("linear layers by tensor") != std::string::npos,
              asked == searched)
        << choice->policy;
  }
}

TEST(QuantizationSearch, DoesNotDependOnThreads) {
  const TestGraph t = separable();
  const Samples samples = samples_of(t.g, 11, -1, 1, 900);
  std::vector<Graph> graphs;
  for (const int threads : {1, 2, 0}) {
    graphs.push_back(t.g);
    Diagnostics diagnostics;
    ASSERT_TRUE(calibrate_and_quantize(graphs.back(), samples, {}, threads, diagnostics));
    ASSERT_EQ(graphs.back().values.size(), graphs[0].values.size());
    for (size_t v = 0; v < graphs[0].values.size(); ++v) {
      EXPECT_EQ(graphs.back().values[v].type, graphs[0].values[v].type) << graphs[0].values[v].name;
      EXPECT_EQ(graphs.back().values[v].constant, graphs[0].values[v].constant)
          << graphs[0].values[v].name;
    }
  }
}

// Columns of different units, of which a few numbers lie far out: a column's size says little of
// what comes later, and what is expected of that must show it.
TEST(QuantizationSearch, SizesOfChannelsAreJudgedOnSamplesThatTheyHaveNotSeen) {
  constexpr i64 kColumns = 12;
  constexpr unsigned kTries = 6;
  const auto unit = [](i64 i) { return std::exp2(static_cast<float>(i % kColumns) / 2); };
  double too_much = 0;
  for (unsigned seed = 0; seed < kTries; ++seed) {
    std::vector<float> w = random_floats(3 * kColumns, seed);
    for (size_t i = 0; i < w.size(); ++i) w[i] /= unit(static_cast<i64>(i));
    TestGraph t;
    const ValueId x = t.input("x", {1, kColumns});
    t.output(t.node("y", Linear{}, {x, t.constant("w", {3, kColumns}, w)}));
    Samples samples = samples_of(t.g, 32 + 128, -1, 1, 1000 * seed + 7);
    for (auto& sample : samples)
      for (size_t i = 0; i < kColumns; ++i)
        sample[0][i] = std::copysign(std::exp(8 * std::abs(sample[0][i]) - 4), sample[0][i]) *
                       unit(static_cast<i64>(i));
    const Samples later(samples.begin() + 32, samples.end());
    samples.resize(32);
    Graph g = t.g;
    Diagnostics diagnostics;
    const auto choice =
        calibrate_and_quantize(g, samples, {.float_ports = {{true}, {true}}}, 2, diagnostics);
    ASSERT_TRUE(choice && choice->held_out);
    too_much += (choice->held_out->db - sqnr(t.g, g, later)) / kTries;
  }
  EXPECT_LT(too_much, 5);
}

TEST(QuantizationSearch, FailsWhereCalibrationFails) {
  TestGraph t = separable();
  Diagnostics diagnostics;
  Samples samples = samples_of(t.g, 3, -1, 1, 900);
  samples[1][0][5] = std::nanf("");
  EXPECT_FALSE(calibrate_and_quantize(t.g, samples, {}, 1, diagnostics));
  EXPECT_TRUE(diagnostics.has_errors());
}

// Forms are compared by how they round: that one sample reaches beyond the range of the others is
// not part of it.
TEST(QuantizationSearch, PlainScoreIsOfRoundingAlone) {
  TestGraph t;
  const ValueId x = t.input("x", {1, 12});
  t.output(t.node("y", Linear{}, {x, t.constant("w", {5, 12}, random_floats(60, 1))}));
  Samples samples = samples_of(t.g, 8);
  for (float& v : samples[3][0]) v *= 10;
  QuantizeOptions options;
  const std::optional<Score> score = plain_score(t.g, samples, options, 1);
  ASSERT_TRUE(score);
  EXPECT_GT(score->sqnr_db, 30);
}

}  // namespace
}  // namespace deuteron
