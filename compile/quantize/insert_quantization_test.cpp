// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/insert_quantization.h"

#include <algorithm>

#include "compile/calibrate/float_executor.h"
#include "compile/calibrate/test_graph.h"
#include "compile/quantize/quantization_clusters.h"
#include "compile/quantize/test_quantized.h"

#pragma GCC diagnostic ignored \
    "-Wmissing-field-initializers"  // attributes that a case does not name keep their defaults

namespace deuteron {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

const Node& producer(const Graph& g, ValueId v) {
  for (const Node& node : g.nodes)
    if (std::ranges::find(node.outputs, v) != node.outputs.end()) return node;
  ADD_FAILURE() << "nobody makes value " << v;
  return g.nodes[0];
}

TestGraph convolution(float weight_size = 1, std::vector<float> bias = {}) {
  TestGraph t;
  const ValueId x = t.input("x", {1, 5, 6, 3});
  const ValueId w = t.constant("w", {4, 3, 3, 3}, random_floats(108, 1, -weight_size, weight_size));
  const ValueId b = t.constant("b", {4}, bias.empty() ? random_floats(4, 2) : bias);
  t.output(t.node("y", Conv2d{.pad_before = {1, 1}, .pad_after = {1, 1}, .bounds = {.low = 0}},
                  {x, w, b}));
  return t;
}

TEST(InsertQuantization, AConvolutionLooksAsPt2eLeavesIt) {
  const TestGraph t = convolution();
  const Samples samples = samples_of(t.g, 4);
  const Quantized q = quantize(t.g, samples, {.observer = Observer::min_max});
  EXPECT_TRUE(q.diagnostics.list().empty());
  // quantize(x) dequantize conv(dequantize(w), dequantize(b)) quantize dequantize
  EXPECT_EQ(count_nodes<Quantize>(q.g), 2u);
  EXPECT_EQ(count_nodes<Dequantize>(q.g), 4u);
  const Node& last = producer(q.g, q.g.outputs[0].value);
  EXPECT_TRUE(std::holds_alternative<Dequantize>(last.op));
  const Node& conv = *std::ranges::find_if(
      q.g.nodes, [](const Node& n) { return std::holds_alternative<Conv2d>(n.op); });
  const Type &weight = q.g.type(producer(q.g, conv.inputs[1]).inputs[0]),
             &bias = q.g.type(producer(q.g, conv.inputs[2]).inputs[0]);
  EXPECT_EQ(weight.dtype, DType::s8);
  EXPECT_EQ(weight.quant.axis, 0);
  EXPECT_EQ(weight.quant.low, -127);
  EXPECT_EQ(bias.dtype, DType::s32);
  const Quant x = quant_of(q.g, "x"), y = quant_of(q.g, "y");
  ASSERT_EQ(bias.quant.scale.size(), 4u);
  for (size_t c = 0; c < 4; ++c) EXPECT_EQ(bias.quant.scale[c], x.scale[0] * weight.quant.scale[c]);
  EXPECT_EQ(y.zero_point[0], -128);  // observed after the bound, so it begins at 0
  EXPECT_GT(sqnr(t.g, q.g, samples), 30);
  EXPECT_EQ(q.report.size(), 2u);
  EXPECT_EQ(q.report[0].name, "x");
  EXPECT_FALSE(q.report[0].shared);
}

TEST(InsertQuantization, RoundsWeightsHalfToEven) {
  TestGraph t;
  const ValueId x = t.input("x", {1, 2});
  t.output(t.node("y", Linear{}, {x, t.constant("w", {1, 2}, {127, 2.5f})}));  // scale 1
  const Quantized q = quantize(t.g, samples_of(t.g, 2));
  const ValueId w = find_value(q.g, "w_q");
  ASSERT_GE(w, 0);
  const std::span<const int8_t> steps = q.g.values[w].constant->as<int8_t>();
  EXPECT_EQ(std::vector<int>(steps.begin(), steps.end()), (std::vector<int>{127, 2}));
}

TEST(InsertQuantization, OneQuantizeForEachValueOneDequantizeForEachUse) {
  TestGraph t;
  const ValueId x = t.input("x", {2, 3});
  const ValueId a = t.node("a", Add{}, {x, x});
  const ValueId b = t.node("b", Mul{}, {a, x});
  t.output(t.node("c", Add{}, {a, b}));
  t.output(a);
  const Samples samples = samples_of(t.g, 3);
  const Quantized q = quantize(t.g, samples);
  EXPECT_EQ(count_nodes<Quantize>(q.g), 4u);  // x, a, b, c
  EXPECT_EQ(count_nodes<Dequantize>(q.g),
            3u + 2 + 1 + 2);  // x three times, a twice, b once, two outputs
  EXPECT_GT(sqnr(t.g, q.g, samples), 30);
}

TEST(InsertQuantization, SharesParametersAcrossMovementInBothDirections) {
  TestGraph t;
  const ValueId x = t.input("x", {1, 4, 4, 2});
  const ValueId w = t.constant("w", {3, 1, 1, 2}, random_floats(6, 1));
  const ValueId conv = t.node("conv", Conv2d{}, {x, w});
  const ValueId padded = t.node("padded", Pad{{0, 1, 0, 0}, {0, 0, 1, 0}, 0}, {conv});
  const ValueId mean = t.node("mean", AvgPool2d{.kernel = {2, 2}, .stride = {2, 2}}, {padded});
  const ValueId turned = t.node("turned", Permute{{0, 3, 1, 2}}, {conv});
  t.output(t.node("flat", Reshape{{1, 48}}, {turned}));
  t.output(t.node("sum", Add{}, {mean, mean}));
  const Quantized q = quantize(t.g, samples_of(t.g, 5));
  const Quant conv_q = quant_of(q.g, "conv");
  for (const char* name : {"padded", "mean", "turned", "flat"})
    EXPECT_EQ(quant_of(q.g, name), conv_q) << name;
  EXPECT_NE(quant_of(q.g, "sum"), conv_q);
  EXPECT_NE(quant_of(q.g, "x"), conv_q);
  for (const QuantizedValue& value : q.report)
    EXPECT_EQ(value.shared, value.name != "x" && value.name != "sum") << value.name;
}

// A slice is represented by its result, but not the smallest element of a row, which has steps of
// its own: x serves both readers.
TEST(InsertQuantization, ParametersServeAReaderThatDoesNotShareThem) {
  TestGraph t;
  const ValueId x = t.input("x", {2, 9, 4});
  t.output(t.node("least", Reduce{Reduce::kMin, {1}}, {x}));
  t.output(t.node("part", Slice{.axis = 1, .start = 0, .count = 1}, {x}));
  Samples samples = samples_of(t.g, 3);
  for (auto& s : samples)
    for (size_t i = 0; i < s[0].size(); ++i)
      s[0][i] = i / 4 % 9 == 0 ? 0.1f : -1.0f - static_cast<float>(i % 5);
  const Quantized q = quantize(t.g, samples, {.observer = Observer::min_max});
  const Quant& steps = quant_of(q.g, "x");
  EXPECT_LE(steps.scale[0] * static_cast<float>(-128 - steps.zero_point[0]), -4.9f);
  EXPECT_EQ(quant_of(q.g, "part"), steps);
  EXPECT_NE(quant_of(q.g, "least"), steps);
}

// Shared with an operand that reaches further, an output would lose bits: it keeps its own steps,
// with the view of it that is read.
TEST(InsertQuantization, AnOutputAmongWiderOperandsKeepsItsOwnSteps) {
  const auto network = [](float width) {
    TestGraph t;
    const ValueId narrow = t.input("narrow", {4, 6}), wide = t.input("wide", {6, 4});
    const ValueId y = t.node("y", Clamp{{-1, 1}}, {narrow});
    const ValueId turned = t.node("turned", Permute{{1, 0}}, {y});
    const ValueId other = t.node("other", Mul{}, {wide, t.constant("width", {1}, {width})});
    t.output(y);
    t.output(t.node("least", Minimum{}, {turned, other}));
    t.output(t.node("both", Concat{.axis = 1}, {other, turned}));
    return t;
  };
  const TestGraph t = network(8);
  const Samples samples = samples_of(t.g, 4);
  const Quantized q = quantize(t.g, samples, {.observer = Observer::min_max});
  EXPECT_EQ(quant_of(q.g, "turned"), quant_of(q.g, "y"));
  EXPECT_LT(4 * quant_of(q.g, "y").scale[0], quant_of(q.g, "other").scale[0]);
  EXPECT_EQ(quant_of(q.g, "least"), quant_of(q.g, "other"));
  EXPECT_EQ(quant_of(q.g, "both"), quant_of(q.g, "other"));
  for (const Node& node : q.g.nodes)
    if (std::holds_alternative<Minimum>(node.op) || std::holds_alternative<Concat>(node.op)) {
      for (const ValueId v : node.inputs)
        EXPECT_EQ(q.g.type(producer(q.g, v).inputs[0]).quant, quant_of(q.g, "other"));
    }
  // Nor does what another operator computes with become coarse.
  TestGraph inner;
  const ValueId narrow = inner.input("narrow", {4, 6}),
                wide = inner.constant("wide", {4, 6}, std::vector<float>(24, 20));
  inner.output(inner.node("most", Maximum{}, {narrow, wide}));
  inner.output(inner.node("mean", Reduce{Reduce::kMean, {1}}, {narrow}));
  const Quantized own = quantize(inner.g, samples_of(inner.g, 4), {.observer = Observer::min_max});
  EXPECT_LT(4 * quant_of(own.g, "narrow").scale[0], quant_of(own.g, "most").scale[0]);
  // Less than a bit is not worth rounding once more.
  const TestGraph near = network(1.5f);
  const Quantized shared = quantize(near.g, samples, {.observer = Observer::min_max});
  EXPECT_EQ(quant_of(shared.g, "y"), quant_of(shared.g, "other"));
}

// What a maximum drops need not be representable: the parameters follow what comes out.
TEST(InsertQuantization, AMaximumDecidesTheRangeOfWhatItReads) {
  TestGraph t;
  const ValueId x = t.input("x", {1, 8, 8, 1});
  t.output(t.node("y", MaxPool2d{.kernel = {8, 8}, .stride = {8, 8}}, {x}));
  const Samples samples = samples_of(t.g, 6, -10, 1);
  const Quantized q = quantize(t.g, samples, {.observer = Observer::min_max});
  EXPECT_EQ(quant_of(q.g, "x"), quant_of(q.g, "y"));
  EXPECT_NEAR(quant_of(q.g, "x").scale[0], 1 / 255.0f, 1e-3);
  EXPECT_GT(sqnr(t.g, q.g, samples), 45);
}

// Logits that softmax makes 0 of take no steps from those that decide.
TEST(InsertQuantization, WhatSoftmaxCannotSeeDoesNotCount) {
  TestGraph t;
  const ValueId x = t.input("x", {64, 4});
  t.output(t.node("y", Softmax{1}, {x}));
  Samples samples = samples_of(t.g, 4, 0, 4);
  for (auto& sample : samples)
    for (size_t k = 0; k < sample[0].size(); k += 4) sample[0][k] -= 200;
  const Quantized q = quantize(t.g, samples, {.observer = Observer::min_max});
  EXPECT_LT(quant_of(q.g, "x").scale[0], 0.1f);  // 204 / 255 for all of them
  EXPECT_GT(sqnr(t.g, q.g, samples), 30);
}

TEST(InsertQuantization, WhatAReaderCutsOffDoesNotCount) {
  TestGraph t;
  const ValueId x = t.input("x", {64});
  const ValueId doubled = t.node("doubled", Add{}, {x, x});
  t.output(t.node("y", Unary{UnaryFn::hardswish}, {doubled}));
  const Quantized q = quantize(t.g, samples_of(t.g, 20, -10, 2), {.observer = Observer::min_max});
  const Quant d = quant_of(q.g, "doubled");
  EXPECT_NEAR(static_cast<float>(-128 - d.zero_point[0]) * d.scale[0], -3, 0.03);
  EXPECT_NEAR(static_cast<float>(127 - d.zero_point[0]) * d.scale[0], 4, 0.1);
  EXPECT_NEAR(
      static_cast<float>(-128 - quant_of(q.g, "x").zero_point[0]) * quant_of(q.g, "x").scale[0],
      -10, 0.1);  // add needs all of it
}

TEST(InsertQuantization, FixedResultsKeepTheirConstantsAndAreQuantizedOnce) {
  TestGraph t;
  const ValueId x = t.input("x", {2, 5});
  const ValueId y = t.node("y", Softmax{1}, {x});
  t.output(y);
  t.output(t.node("flat", Reshape{{10}}, {y}));
  const Quantized q = quantize(t.g, samples_of(t.g, 3, -4, 4));
  EXPECT_EQ(quant_of(q.g, "y"), per_tensor(1.0f / 256, -128));
  EXPECT_EQ(quant_of(q.g, "flat"), per_tensor(1.0f / 256, -128));
  EXPECT_EQ(count_nodes<Quantize>(q.g), 3u);
  const Node& out = producer(q.g, q.g.outputs[0].value);
  EXPECT_TRUE(std::holds_alternative<Dequantize>(out.op));
  EXPECT_EQ(out.inputs[0], find_value(q.g, "y_q"));
}

TEST(InsertQuantization, ConstantActivationsAreQuantizedFromTheirOwnRange) {
  TestGraph t;
  const ValueId x = t.input("x", {2, 3});
  t.output(t.node("y", Add{}, {x, t.constant("c", {3}, {0.5f, 4, -1})}));
  const Samples samples = samples_of(t.g, 3);
  const Quantized q = quantize(t.g, samples);
  EXPECT_FLOAT_EQ(quant_of(q.g, "c").scale[0], 5.0f / 255);
  EXPECT_TRUE(q.g.is_constant(find_value(q.g, "c_q")));
  EXPECT_GT(sqnr(t.g, q.g, samples), 35);
}

TEST(InsertQuantization, FloatOperatorsStayFloatAndReadWhatExists) {
  TestGraph t;
  const ValueId x = t.input("x", {3, 4});
  const auto c = [&](const char* name, float v) {
    return t.constant(name, {4}, std::vector<float>(4, v));
  };
  const ValueId before =
      t.node("before", BatchNorm{}, {x, c("w", 1), c("b", 0), c("m", 0), c("v", 1)});
  const ValueId layer =
      t.node("layer", Linear{}, {before, t.constant("filters", {4, 4}, random_floats(16, 1))});
  const ValueId after =
      t.node("after", BatchNorm{}, {layer, c("w2", 1), c("b2", 0), c("m2", 0), c("v2", 1)});
  t.output(after);
  t.output(before);
  const Samples samples = samples_of(t.g, 3);
  const Quantized q = quantize(t.g, samples);
  // batch norm reads the float input; its result is float for the output and int8 for the layer;
  // the second reads the dequantized layer
  EXPECT_EQ(producer(q.g, find_value(q.g, "before")).inputs[0], find_value(q.g, "x"));
  EXPECT_EQ(q.g.outputs[1].value, find_value(q.g, "before"));
  EXPECT_TRUE(std::holds_alternative<Dequantize>(
      producer(q.g, producer(q.g, find_value(q.g, "after")).inputs[0]).op));
  EXPECT_EQ(q.g.outputs[0].value, find_value(q.g, "after"));
  EXPECT_EQ(count_nodes<Quantize>(q.g), 2u);
}

TEST(InsertQuantization, AComputedWeightKeepsTheOperatorInFloatWithAWarning) {
  TestGraph t;
  const ValueId x = t.input("x", {3, 4}), w = t.input("w", {5, 4});
  t.output(t.node("y", Linear{}, {x, w}));
  const Quantized q = quantize(t.g, samples_of(t.g, 2));
  EXPECT_EQ(count_nodes<Quantize>(q.g), 0u);
  ASSERT_EQ(q.diagnostics.list().size(), 1u);
  EXPECT_EQ(q.diagnostics.list()[0].severity, Severity::warning);
  EXPECT_NE(format_diagnostic(q.diagnostics.list()[0]).find("`y`"), std::string::npos);
}

// A channel whose weights are tiny or zero and whose bias is large: bias / (x.scale * weight.scale)
// must stay within half of int32.
TEST(InsertQuantization, TheBiasAlwaysFits) {
  for (const float size : {1.0f, 1e-6f, 1e-12f, 0.0f}) {
    const TestGraph t = convolution(size, {1000, -3e5f, 0, 1e-3f});
    for (const float range : {1.0f, 1e-4f, 1e4f}) {
      const Samples samples = samples_of(t.g, 3, -range, range);
      const Quantized q = quantize(t.g, samples, {.correct_bias = false});
      const ValueId b = find_value(q.g, "b_q");
      ASSERT_GE(b, 0);
      const std::span<const i32> steps = q.g.values[b].constant->as<i32>();
      const float expected[] = {1000, -3e5f, 0, 1e-3f};
      for (size_t c = 0; c < 4; ++c) {
        EXPECT_LE(std::abs(static_cast<double>(steps[c])), 0x1p30 + 256) << size << " " << range;
        const double scale = q.g.type(b).quant.scale[c];
        EXPECT_NEAR(steps[c] * scale, expected[c], scale / 2 + std::abs(expected[c]) * 3e-7);
      }
      EXPECT_GT(sqnr(t.g, q.g, samples), 35) << size << " " << range;
    }
  }
}

// Inputs that are all positive turn the rounding of weights into a shift of each output channel.
TEST(InsertQuantization, TheBiasTakesUpTheMeanLossOfRoundedWeights) {
  for (const bool depthwise : {false, true})
    for (const bool has_bias : {false, true}) {
      TestGraph t;
      const ValueId x = t.input("x", {1, 9, 7, 6});
      const Shape shape = depthwise ? Shape{6, 3, 3, 1} : Shape{5, 3, 3, 6};
      std::vector<float> weight = random_floats(numel(shape), 61);
      for (size_t i = 0; i < weight.size(); i += weight.size() / static_cast<size_t>(shape[0]))
        weight[i] = 40;  // coarse steps for all others
      std::vector<ValueId> operands{x, t.constant("w", shape, weight)};
      if (has_bias) operands.push_back(t.constant("b", {shape[0]}, random_floats(shape[0], 62)));
      t.output(t.node("y",
                      Conv2d{.stride = {2, 1},
                             .pad_before = {1, 1},
                             .pad_after = {1, 1},
                             .groups = depthwise ? 6 : 1},
                      operands));
      const Samples samples = samples_of(t.g, 40, 3, 5);
      const auto shift = [&](const Graph& q) {  // mean error of each channel, in all
        const FloatExecutor a(t.g), b(q);
        std::vector<double> error(static_cast<size_t>(shape[0]));
        for (const auto& sample : samples) {
          const auto p = a.run(sample, {})[0], r = b.run(sample, {})[0];
          for (size_t i = 0; i < p.size(); ++i)
            error[i % error.size()] +=
                (static_cast<double>(r[i]) - p[i]) / static_cast<double>(p.size());
        }
        double sum = 0;
        for (const double e : error) sum += std::abs(e);
        return sum;
      };
      const double without = shift(quantize(t.g, samples, {.correct_bias = false}).g),
                   with = shift(quantize(t.g, samples).g);
      EXPECT_LT(with * 10, without) << depthwise << has_bias;
    }
}

TEST(InsertQuantization, PerTensorLinearOnRequest) {
  TestGraph t;
  const ValueId x = t.input("x", {2, 6});
  t.output(t.node("y", Linear{},
                  {x, t.constant("w", {4, 6}, random_floats(24, 3)),
                   t.constant("b", {4}, random_floats(4, 4))}));
  const Quantized q = quantize(t.g, samples_of(t.g, 2),
                               {.linear_weights = LinearWeights::by_tensor, .weight_low = -128});
  EXPECT_FALSE(quant_of(q.g, "w").per_channel());
  EXPECT_EQ(quant_of(q.g, "w").low, -128);
  EXPECT_EQ(quant_of(q.g, "b").scale.size(), 1u);
}

TEST(InsertQuantization, WidensRangesAsFarAsValuesCanCome) {
  TestGraph t = convolution();
  Conv2d& conv = std::get<Conv2d>(t.g.nodes[0].op);
  const auto span = [](const Quant& q) {
    return std::pair{q.scale[0] * static_cast<float>(q.low - q.zero_point[0]),
                     q.scale[0] * static_cast<float>(q.high - q.zero_point[0])};
  };
  conv.bounds = {};
  const Quantized as_seen = quantize(t.g, samples_of(t.g, 2), {.observer = Observer::min_max});
  const Quantized wider =
      quantize(t.g, samples_of(t.g, 2), {.observer = Observer::min_max, .margin = 0.25});
  for (const char* name : {"x", "y"}) {
    const auto [low, high] = span(quant_of(as_seen.g, name));
    const auto [wide_low, wide_high] = span(quant_of(wider.g, name));
    const float step = quant_of(wider.g, name).scale[0];  // where zero lies is rounded to a step
    EXPECT_NEAR(wide_low, 1.25f * low, step) << name;
    EXPECT_NEAR(wide_high, 1.25f * high, step) << name;
  }
  conv.bounds = {0, span(quant_of(as_seen.g, "y")).second / 2};  // reached by every sample
  const Quantized bounded =
      quantize(t.g, samples_of(t.g, 2), {.observer = Observer::min_max, .margin = 0.25});
  EXPECT_FLOAT_EQ(span(quant_of(bounded.g, "y")).first, 0);
  EXPECT_FLOAT_EQ(span(quant_of(bounded.g, "y")).second, conv.bounds.high);
}

TEST(InsertQuantization, SharedWeightsExistOnce) {
  TestGraph t;
  const ValueId x = t.input("x", {2, 4});
  const ValueId w = t.constant("w", {4, 4}, random_floats(16, 3));
  t.output(t.node("b", Linear{}, {t.node("a", Linear{}, {x, w}), w}));
  const Quantized q = quantize(t.g, samples_of(t.g, 2));
  size_t constants = 0;
  for (const GraphValue& v : q.g.values) constants += v.constant.has_value();
  EXPECT_EQ(constants, 1u + 2);  // and a bias for each use
}

TEST(InsertQuantization, WarnsAboutValuesThatNeverChange) {
  TestGraph t;
  const ValueId x = t.input("x", {4});
  const ValueId flat = t.node("flat", Clamp{{-kInfinity, -5}}, {x});
  t.output(t.node("y", Add{}, {flat, x}));
  Quantized q = quantize(t.g, samples_of(t.g, 3));
  ASSERT_EQ(q.diagnostics.list().size(), 1u);
  EXPECT_EQ(q.diagnostics.list()[0].rule, "calibrate.constant");
  EXPECT_NE(format_diagnostic(q.diagnostics.list()[0]).find("`flat`"), std::string::npos);
  const Quantized zero = quantize(t.g, {{{0, 0, 0, 0}}});
  EXPECT_FALSE(zero.diagnostics.list().empty());
  const Quantized tiny = quantize(t.g, {{{1e-7f, 2e-7f, 0, 0}}});
  EXPECT_TRUE(std::ranges::any_of(tiny.diagnostics.list(), [](const Diagnostic& d) {
    return d.rule == "calibrate.tiny_range";
  }));
}

TEST(InsertQuantization, ConstantsOfNoUseAreGone) {
  const Quantized q = quantize(convolution().g, {{random_floats(90, 5)}});
  EXPECT_EQ(find_value(q.g, "w"), -1);
  EXPECT_EQ(find_value(q.g, "b"), -1);
}

// What stands beside a softmax in a concatenation may reach further than a softmax can.
TEST(InsertQuantization, FixedParametersDoNotCutOffWhatSharesThem) {
  for (const float reach : {1.0f, 4.0f}) {
    TestGraph t;
    const ValueId x = t.input("x", {3, 7});
    const ValueId y = t.node("y", Softmax{1}, {x});
    t.output(t.node("z", Concat{0}, {x, y}));
    const Samples samples = samples_of(t.g, 4, reach == 1 ? 0 : -reach, reach);
    const Quantized q = quantize(t.g, samples);
    EXPECT_GT(sqnr(t.g, q.g, samples), 35) << reach;
    EXPECT_EQ(quant_of(q.g, "y"), per_tensor(1.0f / 256, -128)) << reach;
    EXPECT_EQ(quant_of(q.g, "z") == quant_of(q.g, "y"), reach == 1) << reach;
  }
}

// The 1 that is added would be 255/256: a whole step off, at most of the elements. A softmax that
// has reached 1 is off by as much.
TEST(InsertQuantization, FixedParametersDoNotCutOffWhatIsAddedBesideThem) {
  for (const bool reaches_one : {false, true}) {
    TestGraph t;
    const ValueId y = t.node("y", Softmax{1}, {t.input("x", {3, 7})});
    t.output(t.node("z", Pad{{2, 2}, {2, 2}, 1.0f}, {y}));
    Samples samples = samples_of(t.g, 4);
    if (reaches_one) samples[0][0][0] = 100;
    const Quantized q = quantize(t.g, samples);
    if (!reaches_one) { EXPECT_GT(sqnr(t.g, q.g, samples), 54); }
    EXPECT_EQ(quant_of(q.g, "z") == per_tensor(1.0f / 256, -128), reaches_one);
  }
}

// topk(x): a call, with positions beside the values.
ValueId add_topk(TestGraph& t, ValueId x, i64 count) {
  using K = KernelArg::Kind;
  Shape shape = t.g.type(x).shape, out = shape;
  out.back() = count;
  KernelCall call;
  call.name = "aten::topk", call.overload = "values";
  call.args = {{K::input, 0, 0, {}, plain_face(shape)},
               {K::integer, count, 0, {}, {}},
               {K::integer, static_cast<i64>(shape.size()) - 1, 0, {}, {}},
               {K::boolean, 1, 0, {}, {}},
               {K::boolean, 1, 0, {}, {}},
               {K::output, 0, 0, {}, plain_face(out)},
               {K::output, 1, 0, {}, plain_face(out)}};
  t.g.sources.push_back({"topk", "topk", "topk", ""});
  return t.g.add_node(std::move(call), {x}, {Type{DType::f32, out, {}}, Type{DType::s64, out, {}}},
                      "top", {static_cast<i32>(t.g.sources.size()) - 1});
}

TEST(InsertQuantization, CallsThatMoveNumbersShareTheirParameters) {
  TestGraph t;
  const ValueId sum = t.node("y", Add{}, {t.input("x", {3, 8}), t.input("z", {3, 8})});
  t.output(add_topk(t, sum, 2));
  const Quantized q = quantize(t.g, samples_of(t.g, 4));
  EXPECT_TRUE(q.diagnostics.list().empty());
  EXPECT_EQ(quant_of(q.g, "y"), quant_of(q.g, "top"));
  EXPECT_TRUE(std::holds_alternative<Dequantize>(producer(q.g, q.g.outputs[0].value).op));
}

}  // namespace
}  // namespace deuteron
