// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/precision_search.h"

#include <algorithm>

#include "compile/calibrate/test_graph.h"
#include "compile/quantize/quantization_search.h"
#include "compile/quantize/test_quantized.h"

#pragma GCC diagnostic ignored \
    "-Wmissing-field-initializers"  // attributes that a case does not name keep their defaults

namespace deuteron {
namespace {

// Three layers. int8 rounds the weights of `coarse` away: each filter has one that is 200 times as
// large as the others. Those of the others are -1, 0 and 1, which int8 has exactly.
TestGraph one_coarse_layer() {
  TestGraph t;
  const ValueId x = t.input("x", {1, 6, 5, 4});
  std::vector<float> w = random_floats(8 * 4, 1), one(8 * 8), last(3 * 8);
  for (size_t i = 0; i < w.size(); ++i) w[i] = i % 4 == 0 ? 1.0f : w[i] / 200;
  for (size_t i = 0; i < one.size(); ++i) one[i] = static_cast<float>(i % 3) - 1;
  for (size_t i = 0; i < last.size(); ++i) last[i] = static_cast<float>(i * 7 % 3) - 1;
  // The large weight of a filter meets a channel of zeros: what is left are the small ones.
  const ValueId first =
      t.node("first", Conv2d{},
             {x, t.constant("w0", {4, 1, 1, 4}, {0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1})});
  const ValueId coarse = t.node("coarse", Conv2d{}, {first, t.constant("w1", {8, 1, 1, 4}, w)});
  const ValueId second = t.node("second", Conv2d{}, {coarse, t.constant("w2", {8, 1, 1, 8}, one)});
  t.output(t.node("y", Conv2d{}, {second, t.constant("w3", {3, 1, 1, 8}, last)}));
  return t;
}

// 100 instructions, and 10 for each layer with an int16 result.
std::optional<ProgramSize> ten_for_a_layer(const Graph& g) {
  ProgramSize size{100, 64, 1000};
  for (const GraphValue& v : g.values) {
    if (v.type.dtype != DType::s16) continue;
    if (v.constant) size.file_bytes += v.type.bytes();
    for (const char* result : {"first_q", "coarse_q", "second_q", "y_q"})
      if (v.name == result) size.instructions += 10;
  }
  return size;
}

struct Found {
  std::optional<QuantizationChoice> choice;
  Graph graph;
  Diagnostics diagnostics;
  const PrecisionDecision& decision() const { return *choice->precision; }
  const PrecisionChoice& chosen() const { return decision().curve[decision().chosen]; }
};
Found search(MixedPrecision limits, int threads = 2) {
  const TestGraph t = one_coarse_layer();
  if (!limits.size_of) limits.size_of = ten_for_a_layer;
  Found found;
  found.graph = t.g;
  const Samples samples = samples_of(t.g, 12, -1, 1, 50);
  found.choice = calibrate_and_quantize(found.graph, samples, {.equalize = false}, threads,
                                        found.diagnostics, &limits);
  return found;
}

TEST(PrecisionSearch, TakesTheLayerThatIsWorthIt) {
  const Found one = search({.max_cost = 0.1});
  ASSERT_TRUE(one.choice);
  EXPECT_EQ(one.chosen().layers, (std::vector<std::string>{"conv2d `coarse` (source op 1)"}));
  EXPECT_EQ(one.chosen().size.instructions, 110);
  EXPECT_GT(one.chosen().sqnr_db, one.decision().curve[0].sqnr_db + 3);
  // The graph is what was chosen: one layer with int16 weights.
  EXPECT_EQ(ten_for_a_layer(one.graph)->instructions, 110);
}

TEST(PrecisionSearch, StaysWithinTheCost) {
  for (const double most : {0.0, 0.05, 0.1, 0.2, 0.35, 1.0}) {
    const Found found = search({.max_cost = most});
    ASSERT_TRUE(found.choice) << most;
    EXPECT_LE(static_cast<double>(found.chosen().size.instructions), 100 * (1 + most) + 1e-9)
        << most;
    EXPECT_EQ(found.chosen().layers.empty(), most < 0.1) << most;
  }
}

TEST(PrecisionSearch, GainsWithWhatItMaySpend) {
  double last = -1e9;
  for (const double most : {0.0, 0.1, 0.2, 0.3, 0.4}) {
    const Found found = search({.max_cost = most});
    ASSERT_TRUE(found.choice) << most;
    EXPECT_GE(found.chosen().steady_db, last) << most;
    last = found.chosen().steady_db;
  }
  EXPECT_GT(last, search({.max_cost = 0.0}).chosen().steady_db + 20);  // all layers on int16
}

TEST(PrecisionSearch, ItsCurveRises) {
  const PrecisionDecision d = search({.max_cost = 1.0}).decision();
  ASSERT_GE(d.curve.size(), 3u);
  EXPECT_TRUE(d.curve[0].layers.empty());
  for (size_t k = 1; k < d.curve.size(); ++k) {
    EXPECT_GE(d.curve[k].size.instructions, d.curve[k - 1].size.instructions) << k;
    EXPECT_GT(d.curve[k].steady_db, d.curve[k - 1].steady_db) << k;
  }
  ASSERT_TRUE(d.int16_everywhere);
  EXPECT_EQ(d.int16_everywhere->layers.size(), 4u);
}

TEST(PrecisionSearch, ReachesATargetAsCheaplyAsItCan) {
  const PrecisionDecision all = search({.max_cost = 1.0}).decision();
  for (const PrecisionChoice& point : all.curve) {
    const Found found = search({.target_db = point.sqnr_db});
    ASSERT_TRUE(found.choice) << point.sqnr_db;
    EXPECT_GE(found.chosen().sqnr_db, point.sqnr_db);
    EXPECT_LE(found.chosen().size.instructions, point.size.instructions);
  }
}

TEST(PrecisionSearch, RefusesATargetThatNothingReaches) {
  const Found alone = search({.target_db = 199.0}),
              within = search({.max_cost = 0.0, .target_db = 60.0});
  for (const Found* found : {&alone, &within}) {
    EXPECT_FALSE(found->choice);
    ASSERT_EQ(found->diagnostics.list().size(), 1u);
    EXPECT_EQ(found->diagnostics.list()[0].rule, "precision.target");
  }
}

TEST(PrecisionSearch, RefusesAProgramOfUnknownCost) {
  const Found found = search(
      {.max_cost = 0.1, .size_of = [](const Graph&) { return std::optional<ProgramSize>(); }});
  EXPECT_FALSE(found.choice);
  ASSERT_EQ(found.diagnostics.list().size(), 1u);
  EXPECT_EQ(found.diagnostics.list()[0].rule, "precision.cost");
}

// A choice whose program cannot be is none, however good.
TEST(PrecisionSearch, TakesNothingWithoutAProgram) {
  const auto without_coarse = [](const Graph& g) {
    const auto is_coarse = [](const GraphValue& v) {
      return v.type.dtype == DType::s16 && v.name == "coarse_q";
    };
    return std::ranges::any_of(g.values, is_coarse) ? std::nullopt : ten_for_a_layer(g);
  };
  const Found found = search({.max_cost = 0.1, .size_of = without_coarse});
  ASSERT_TRUE(found.choice);
  for (const std::string& layer : found.chosen().layers)
    EXPECT_EQ(layer.find("coarse"), std::string::npos);
}

TEST(PrecisionSearch, DoesNotDependOnThreads) {
  const Found one = search({.max_cost = 0.2}, 1), two = search({.max_cost = 0.2}, 2);
  ASSERT_TRUE(one.choice && two.choice);
  EXPECT_EQ(one.decision().curve, two.decision().curve);
  EXPECT_EQ(one.decision().chosen, two.decision().chosen);
}

}  // namespace
}  // namespace deuteron
