// SPDX-License-Identifier: Apache-2.0
#include "compile/calibrate/float_executor.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <thread>

#include "compile/calibrate/arena_plan.h"
#include "compile/calibrate/calibrate.h"
#include "compile/calibrate/test_graph.h"

#pragma GCC diagnostic ignored \
    "-Wmissing-field-initializers"  // attributes that a case does not name keep their defaults

namespace deuteron {
namespace {

// conv -> relu -> (depthwise, itself) -> add -> max pool -> reshape -> linear -> softmax, with two
// outputs.
TestGraph residual() {
  TestGraph t;
  const ValueId x = t.input("x", {2, 6, 5, 3});
  const ValueId w = t.constant("w", {8, 3, 3, 3}, random_floats(216, 1)),
                b = t.constant("b", {8}, random_floats(8, 2));
  const ValueId dw = t.constant("dw", {8, 3, 3, 1}, random_floats(72, 3));
  const ValueId fc = t.constant("fc", {4, 48}, random_floats(192, 4));
  const ValueId conv = t.node("conv", Conv2d{.pad_before = {1, 1}, .pad_after = {1, 1}}, {x, w, b});
  const ValueId relu = t.node("relu", Clamp{{.low = 0}}, {conv});
  const ValueId depthwise = t.node(
      "depthwise", Conv2d{.pad_before = {1, 1}, .pad_after = {1, 1}, .groups = 8}, {relu, dw});
  const ValueId sum = t.node("sum", Add{}, {depthwise, relu});
  const ValueId pool = t.node("pool", MaxPool2d{.kernel = {2, 2}, .stride = {2, 2}}, {sum});
  const ValueId flat = t.node("flat", Reshape{{2, 48}}, {pool});
  const ValueId logits = t.node("logits", Linear{}, {flat, fc});
  t.output(t.node("probabilities", Softmax{1}, {logits}));
  t.output(flat);
  return t;
}

// The same, one operator at a time, nothing shared or reused.
std::map<ValueId, std::vector<float>> one_by_one(const Graph& g,
                                                 const std::vector<std::vector<float>>& inputs) {
  std::map<ValueId, std::vector<float>> data;
  for (size_t i = 0; i < inputs.size(); ++i) data[g.inputs[i].value] = inputs[i];
  for (size_t v = 0; v < g.values.size(); ++v)
    if (g.values[v].constant) {
      const std::span<const float> c = g.values[v].constant->as<float>();
      data[static_cast<ValueId>(v)].assign(c.begin(), c.end());
    }
  for (const Node& node : g.nodes) {
    std::vector<std::pair<Shape, std::vector<float>>> operands;
    for (const ValueId v : node.inputs) operands.emplace_back(g.type(v).shape, data[v]);
    data[node.outputs[0]] = run_op(node.op, operands);
  }
  return data;
}

TEST(FloatExecutor, GivesWhatTheOperatorsGive) {
  const TestGraph t = residual();
  ASSERT_FALSE(find_fault(t.g));
  const FloatExecutor executor(t.g);
  for (unsigned seed = 0; seed < 3; ++seed) {
    const std::vector<std::vector<float>> inputs{random_floats(180, 50 + seed, -2, 2)};
    const auto expected = one_by_one(t.g, inputs);
    std::vector<ValueId> seen;
    const auto outputs = executor.run(inputs, [&](ValueId v, std::span<const float> data) {
      seen.push_back(v);
      EXPECT_EQ(std::vector<float>(data.begin(), data.end()), expected.at(v)) << t.g.values[v].name;
    });
    std::vector<ValueId> made{t.g.inputs[0].value};
    for (const Node& node : t.g.nodes) made.push_back(node.outputs[0]);
    EXPECT_EQ(seen, made);  // every value that is not a constant, once, in order
    ASSERT_EQ(outputs.size(), 2u);
    EXPECT_EQ(outputs[0], expected.at(t.g.outputs[0].value));
    EXPECT_EQ(outputs[1], expected.at(t.g.outputs[1].value));
  }
}

TEST(FloatExecutor, ThreadsDoNotDisturbEachOther) {
  const TestGraph t = residual();
  const FloatExecutor executor(t.g);
  std::vector<std::vector<std::vector<float>>> expected;
  for (unsigned s = 0; s < 8; ++s)
    expected.push_back(executor.run(std::vector<std::vector<float>>{random_floats(180, s)}, {}));
  std::vector<std::thread> threads;
  std::vector<int> equal(8);
  for (unsigned s = 0; s < 8; ++s)
    threads.emplace_back([&, s] {
      for (int repeat = 0; repeat < 20; ++repeat)
        equal[s] +=
            executor.run(std::vector<std::vector<float>>{random_floats(180, s)}, {}) == expected[s];
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(equal, std::vector<int>(8, 20));
}

TEST(FloatExecutor, DequantizesConstantsAndKeepsQuantizedValuesReal) {
  TestGraph t;
  const ValueId x = t.input("x", {2, 3});
  const Quant per_row{{0.5f, 0.25f}, {0, 3}, 0, -128, 127};
  const ValueId w = t.g.add_value("w", Type{DType::s8, {2, 3}, per_row},
                                  constant_of(std::vector<int8_t>{1, -2, 3, 4, 5, -6}));
  const ValueId b =
      t.g.add_value("b", Type{DType::s32, {2}, {{0.125f}, {0}, -1, INT32_MIN, INT32_MAX}},
                    constant_of(std::vector<i32>{8, -1000}));
  const ValueId q = t.node("q", Quantize{per_tensor(0.1f, 5)}, {x}),
                dq = t.node("dq", Dequantize{}, {q});
  t.output(t.node("y", Linear{},
                  {dq, t.node("wf", Dequantize{}, {w}), t.node("bf", Dequantize{}, {b})}));
  ASSERT_FALSE(find_fault(t.g)) << *find_fault(t.g);
  const auto y = FloatExecutor(t.g).run(
      std::vector<std::vector<float>>{{0.12f, 0.26f, -0.31f, 100, -100, 0}}, {});
  const float wf[2][3] = {{0.5f, -1, 1.5f}, {0.25f, 0.5f, -2.25f}}, bf[2] = {1, -125},
              xf[2][3] = {{0.1f, 0.3f, -0.3f}, {12.2f, -13.3f, 0}};
  for (int r = 0; r < 2; ++r)
    for (int o = 0; o < 2; ++o)
      EXPECT_NEAR(y[0][r * 2 + o],
                  xf[r][0] * wf[o][0] + xf[r][1] * wf[o][1] + xf[r][2] * wf[o][2] + bf[o], 2e-5);
}

TEST(FloatExecutor, PassesInputsAndConstantsThrough) {
  TestGraph t;
  const ValueId x = t.input("x", {3});
  t.output(x);
  t.output(t.constant("c", {2}, {4, 5}));
  t.output(t.node("r", Reshape{{1, 3}}, {x}));
  const ValueId q = t.g.add_value("q", Type{DType::s8, {2}, per_tensor(0.5f, 1)},
                                  constant_of(std::vector<int8_t>{3, -1}));
  t.output(t.node("d", Dequantize{}, {q}));
  const auto y = FloatExecutor(t.g).run(std::vector<std::vector<float>>{{1, 2, 3}}, {});
  EXPECT_EQ(y, (std::vector<std::vector<float>>{{1, 2, 3}, {4, 5}, {1, 2, 3}, {1, -1}}));
}

TEST(ArenaPlan, LivePiecesNeverOverlap) {
  std::mt19937 random(7);
  ArenaPlan plan;
  std::vector<std::pair<i64, i64>> live;
  i64 sum = 0, most = 0;
  for (int i = 0; i < 2000; ++i) {
    if (!live.empty() && random() % 5 < 2) {
      const size_t k = random() % live.size();
      plan.give_back(live[k].first, live[k].second);
      sum -= live[k].second;
      live.erase(live.begin() + static_cast<i64>(k));
      continue;
    }
    const i64 count = random() % 3 == 0 ? 0 : random() % 500;
    const i64 at = plan.take(count);
    ASSERT_EQ(at % 16, 0);
    for (const auto& [other, size] : live)
      ASSERT_TRUE(count == 0 || size == 0 || at + count <= other || other + size <= at);
    ASSERT_LE(at + count, plan.size());
    live.emplace_back(at, count);
    most = std::max(most, sum += count);
    if (live.size() > 30) {
      for (const auto& [other, size] : live) plan.give_back(other, size);
      live.clear();
      sum = 0;
    }
  }
  EXPECT_LT(plan.size(), 3 * most);
}

Samples samples_for(size_t count) {
  Samples samples;
  for (unsigned s = 0; s < count; ++s)
    samples.push_back({random_floats(180, 100 + s, -1 - 0.1f * static_cast<float>(s), 2)});
  return samples;
}

TEST(Observe, IsExactAndIndependentOfThreadsAndOrder) {
  const TestGraph t = residual();
  Samples samples = samples_for(13);
  Diagnostics diagnostics;
  const auto one = observe(t.g, samples, 1, diagnostics);
  ASSERT_TRUE(one);
  std::map<ValueId, std::vector<float>> all;
  const FloatExecutor executor(t.g);
  for (const auto& sample : samples)
    executor.run(sample, [&](ValueId v, std::span<const float> d) {
      all[v].insert(all[v].end(), d.begin(), d.end());
    });
  for (const auto& [v, data] : all) {
    const Observation& o = (*one)[v];
    EXPECT_EQ(o.low, *std::ranges::min_element(data)) << t.g.values[v].name;
    EXPECT_EQ(o.high, *std::ranges::max_element(data));
    ASSERT_EQ(o.bins.size(), static_cast<size_t>(kHistogramBins));
    std::vector<i64> bins(kHistogramBins);
    const double width = (static_cast<double>(o.high) - o.low) / kHistogramBins;
    for (const float x : data)
      ++bins[std::min<size_t>(static_cast<size_t>((static_cast<double>(x) - o.low) / width + 1e-9),
                              kHistogramBins - 1)];
    const size_t extent = static_cast<size_t>(t.g.type(v).shape.back());
    ASSERT_EQ(o.channel_mean.size(), extent);
    std::vector<double> mean(extent);
    std::vector<float> most(extent);
    for (size_t i = 0; i < data.size(); ++i)
      mean[i % extent] += data[i], most[i % extent] = std::max(most[i % extent], std::abs(data[i]));
    for (size_t c = 0; c < extent; ++c)
      EXPECT_NEAR(o.channel_mean[c],
                  mean[c] * static_cast<double>(extent) / static_cast<double>(data.size()), 1e-5);
    EXPECT_EQ(channel_most(o), most);
    i64 different = 0, total = 0;
    const std::vector<i64> found = o.bins.counts();
    for (size_t k = 0; k < bins.size(); ++k)
      different += std::abs(bins[k] - found[k]), total += found[k];
    EXPECT_EQ(total, static_cast<i64>(data.size()));
    EXPECT_LE(different, total / 200) << "values on an edge may go either way";
  }
  std::ranges::reverse(samples);
  for (const int threads : {2, 5, 0}) {
    const auto many = observe(t.g, samples, threads, diagnostics);
    ASSERT_TRUE(many);
    for (size_t v = 0; v < one->size(); ++v) {
      EXPECT_EQ((*many)[v].low, (*one)[v].low);
      EXPECT_EQ((*many)[v].high, (*one)[v].high);
      EXPECT_EQ((*many)[v].bins, (*one)[v].bins);
      EXPECT_EQ((*many)[v].channel_mean, (*one)[v].channel_mean);
      EXPECT_EQ(channel_most((*many)[v]), channel_most((*one)[v]));
    }
  }
  EXPECT_TRUE(diagnostics.list().empty());
}

// A value that depends on no input has a range as any other: int8 values beside it are computed
// with that.
TEST(Observe, SeesWhatIsComputedFromConstants) {
  TestGraph t;
  const ValueId x = t.input("x", {2, 3});
  const ValueId c = t.constant("c", {1, 3}, {-1, 0.5f, 4});
  const ValueId twice = t.node("twice", Add{}, {c, c});
  const ValueId wide = t.node("wide", Expand{{2, 3}}, {twice});
  t.output(t.node("y", Mul{}, {x, wide}));
  Diagnostics diagnostics;
  Samples samples;
  for (unsigned s = 0; s < 3; ++s) samples.push_back({random_floats(6, s)});
  const auto seen = observe(t.g, samples, 2, diagnostics);
  ASSERT_TRUE(seen);
  EXPECT_FALSE((*seen)[c].seen);
  for (const ValueId v : {twice, wide}) {
    const Observation& o = (*seen)[v];
    EXPECT_TRUE(o.seen);
    EXPECT_EQ(o.low, -2);
    EXPECT_EQ(o.high, 8);
    EXPECT_EQ(o.bins.total(), t.g.type(v).elements());
    EXPECT_THAT(o.channel_mean,
                testing::ElementsAre(testing::FloatNear(-2, 1e-5f), testing::FloatNear(1, 1e-5f),
                                     testing::FloatNear(8, 1e-5f)));
    EXPECT_THAT(channel_most(o), testing::ElementsAre(2, 1, 8));
  }
}

TEST(Observe, NamesOperatorAndSampleOfWhatIsNotFinite) {
  TestGraph t;
  const ValueId x = t.input("x", {4});
  const ValueId root = t.node("root", Unary{UnaryFn::sqrt}, {x});
  t.output(t.node("y", Clamp{{.low = 0}}, {root}));
  t.g.sources[0].module = "features.3.root";
  Diagnostics negative, broken, wrong_size, wrong_count, none;
  EXPECT_FALSE(observe(t.g, {{{1, 2, 3, 4}}, {{1, 2, 3, 4}}, {{1, -2, 3, -4}}, {{-1, 0, 0, 0}}}, 3,
                       negative));
  ASSERT_EQ(negative.list().size(), 1u);
  const std::string text = format_diagnostic(negative.list()[0]);
  for (const char* part :
       {"features.3.root", "sample 2", "2 of 4 values", "2 of 4 samples", "calibrate.not_finite"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
  EXPECT_FALSE(observe(t.g, {{{1, 2, 3, 4}}, {{1, std::numeric_limits<float>::infinity(), 3, 4}}},
                       1, broken));
  EXPECT_NE(
      format_diagnostic(broken.list()[0]).find("input `x`: error: calibration sample 1 has 1 of 4"),
      std::string::npos)
      << format_diagnostic(broken.list()[0]);
  EXPECT_FALSE(observe(t.g, {{{1, 2, 3}}}, 1, wrong_size));
  EXPECT_EQ(wrong_size.list()[0].rule, "calibrate.elements");
  EXPECT_EQ(wrong_size.list()[0].measured, "3");
  EXPECT_EQ(wrong_size.list()[0].limit, "4");
  EXPECT_FALSE(observe(t.g, {{{1, 2, 3, 4}, {1}}}, 1, wrong_count));
  EXPECT_EQ(wrong_count.list()[0].rule, "calibrate.inputs");
  EXPECT_FALSE(observe(t.g, {}, 1, none));
  EXPECT_EQ(none.list()[0].rule, "calibrate.no_samples");
}

}  // namespace
}  // namespace deuteron
