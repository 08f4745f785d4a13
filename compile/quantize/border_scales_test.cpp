// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/border_scales.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "compile/calibrate/float_executor.h"
#include "compile/quantize/test_quantized.h"

#pragma GCC diagnostic ignored \
    "-Wmissing-field-initializers"  // attributes that a case does not name keep their defaults

namespace deuteron {
namespace {

// Columns of an input with means and sizes of their own.
Samples in_units(const std::vector<float>& mean, const std::vector<float>& size, i64 rows,
                 unsigned count = 32) {
  Samples samples(count);
  for (unsigned s = 0; s < count; ++s) {
    std::vector<float> x = random_floats(rows * static_cast<i64>(mean.size()), 50 + s);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = mean[i % mean.size()] + x[i] * size[i % size.size()];
    samples[s] = {std::move(x)};
  }
  return samples;
}

std::vector<float> scaled(std::vector<float> data, const std::vector<float>& by) {
  for (size_t i = 0; i < data.size(); ++i) data[i] *= by[i % by.size()];
  return data;
}

// How many places are changed. The function stays; what its int8 form gives, by element of the last
// axis of the first output, is at least `least` dB afterwards.
int scale(const TestGraph& t, const Samples& samples, double least, Graph* after = nullptr) {
  Diagnostics diagnostics;
  const auto seen = observe(t.g, samples, 1, diagnostics);
  EXPECT_TRUE(seen);
  Graph g = t.g;
  const FloatPorts ports{std::vector<bool>(g.inputs.size(), true),
                         std::vector<bool>(g.outputs.size(), true)};
  const int changed = scale_borders(g, *seen, ports);
  const auto fault = find_fault(g);
  EXPECT_FALSE(fault) << *fault;
  EXPECT_GT(sqnr(t.g, g, samples), 90);
  const Quantized q = quantize(g, samples, {.observer = Observer::min_max});
  const FloatExecutor real(t.g), rounded(q.g);
  const size_t channels = static_cast<size_t>(t.g.type(t.g.outputs[0].value).shape.back());
  for (size_t c = 0; c < channels; ++c) {
    std::vector<float> x, y;
    for (const auto& sample : samples) {
      const auto a = real.run(sample, {}), b = rounded.run(sample, {});
      for (size_t i = c; i < a[0].size(); i += channels) x.push_back(a[0][i]), y.push_back(b[0][i]);
    }
    EXPECT_GT(sqnr_db(x, y), least) << "channel " << c;
  }
  if (after) *after = q.g;
  return changed;
}

const std::vector<float> kMean{101325, 295, 50, 3000}, kSize{300, 3, 15, 2000};

// (x - mean) / size -> linear
TestGraph scaler(const std::vector<float>& mean, const std::vector<float>& size) {
  TestGraph t;
  const i64 n = static_cast<i64>(mean.size());
  const ValueId x = t.input("x", {1, n});
  std::vector<float> inverse;
  for (const float s : size) inverse.push_back(1 / s);
  const ValueId centred = t.node("centred", Add{.alpha = -1}, {x, t.constant("mean", {n}, mean)});
  const ValueId z = t.node("z", Mul{}, {centred, t.constant("inverse", {1, n}, inverse)});
  t.output(t.node("y", Linear{}, {z, t.constant("w", {3, n}, random_floats(3 * n, 1))}));
  return t;
}

TEST(BorderScales, AScalerBelongsToTheQuantize) {
  Graph after;
  EXPECT_EQ(scale(scaler(kMean, kSize), in_units(kMean, kSize, 1), 38, &after), 1);
  EXPECT_EQ(count_nodes<Affine>(after), 1u);
  EXPECT_EQ(count_nodes<Add>(after) + count_nodes<Mul>(after), 0u);
}

TEST(BorderScales, ColumnsOfOneSizeStayAsTheyAre) {
  const std::vector<float> mean{0, 0.1f, -0.1f}, size{1, 1.2f, 0.9f};
  EXPECT_EQ(scale(scaler(mean, size), in_units(mean, size, 1), 30), 0);
}

TEST(BorderScales, ColumnsOfRawUnitsHaveScalesInTheFirstLayer) {
  TestGraph t;
  const ValueId x = t.input("x", {1, 4});
  std::vector<float> inverse;
  for (const float s : kSize) inverse.push_back(1 / s);
  std::vector<float> weight = scaled(random_floats(12, 1), inverse), bias(3);
  for (size_t i = 0; i < weight.size(); ++i) bias[i / 4] -= weight[i] * kMean[i % 4];
  t.output(t.node("y", Linear{}, {x, t.constant("w", {3, 4}, weight), t.constant("b", {3}, bias)}));
  EXPECT_EQ(scale(t, in_units(kMean, kSize, 1), 38), 1);
}

// Padding reads zeros, which must stay zeros.
TEST(BorderScales, ChannelsOfAPaddedConvolutionAreNotMoved) {
  TestGraph t;
  const ValueId x = t.input("x", {1, 1, 20, 2});
  const std::vector<float> size{1, 200};
  const ValueId w = t.constant("w", {4, 1, 3, 2}, scaled(random_floats(24, 1), {1, 0.005f}));
  t.output(t.node("y", Conv2d{.pad_before = {0, 1}, .pad_after = {0, 1}}, {x, w}));
  Graph after;
  EXPECT_GE(scale(t, in_units({0, 0}, size, 20), 36, &after), 1);
  const ValueId shift = find_value(after, "x.shift");
  ASSERT_GE(shift, 0);
  for (const float v : after.values[shift].constant->as<float>()) EXPECT_EQ(v, 0);
}

TEST(BorderScales, OperandsThatALayerReadsNeedNotShareASize) {
  TestGraph t;
  const ValueId a = t.input("a", {1, 4}), raw = t.input("raw", {1, 4});
  const ValueId hidden =
      t.node("hidden", Linear{}, {a, t.constant("v", {6, 4}, random_floats(24, 3))});
  const ValueId curve = t.node("curve", Unary{UnaryFn::tanh}, {hidden});
  const ValueId both = t.node("both", Concat{1}, {curve, raw});
  std::vector<float> weight = random_floats(30, 1), bias(3);
  for (size_t i = 0; i < weight.size(); ++i)
    if (i % 10 >= 6) weight[i] /= kSize[i % 10 - 6], bias[i / 10] -= weight[i] * kMean[i % 10 - 6];
  t.output(
      t.node("y", Linear{}, {both, t.constant("w", {3, 10}, weight), t.constant("b", {3}, bias)}));
  Samples samples = in_units(kMean, kSize, 1);
  const Samples first = samples_of(t.g, samples.size());
  for (size_t s = 0; s < samples.size(); ++s) samples[s] = {first[s][0], samples[s][0]};
  EXPECT_GE(scale(t, samples, 35), 1);
}

TEST(BorderScales, OutputsOfALayerHaveTheirOwnScales) {
  TestGraph t;
  const ValueId x = t.input("x", {1, 4});
  std::vector<float> weight = random_floats(12, 1);
  for (size_t i = 0; i < weight.size(); ++i) weight[i] *= std::vector<float>{50, 3, 0.005f}[i / 4];
  t.output(t.node("y", Linear{}, {x, t.constant("w", {3, 4}, weight)}));
  EXPECT_EQ(scale(t, samples_of(t.g, 32), 38), 1);
}

TEST(BorderScales, PartsOfAnOutputAreMovedInFloat) {
  TestGraph t;
  const ValueId x = t.input("x", {1, 5, 4});
  const ValueId boxes = t.node("boxes", Pointwise{*point_program_named("mul(x,160)")}, {x});
  const ValueId scores = t.node("scores", Unary{UnaryFn::sigmoid}, {x});
  const ValueId both = t.node("both", Concat{2}, {boxes, scores});
  t.output(t.node("y", Permute{{0, 2, 1}}, {both}));
  Graph after;
  EXPECT_EQ(scale(t, samples_of(t.g, 16), 38, &after), 2);
  EXPECT_EQ(after.type(find_value(after, "both")).dtype, DType::f32);
  EXPECT_LT(find_value(after, "both_q"), 0);
}

// Numbers of many powers of ten: most lie in the first of 255 steps.
Samples spectra(i64 elements, unsigned count = 32) {
  Samples samples(count);
  for (unsigned s = 0; s < count; ++s) {
    std::vector<float> x = random_floats(elements, 70 + s);
    for (float& v : x) v = std::exp(4 * v - 3);
    samples[s] = {std::move(x)};
  }
  return samples;
}

TEST(BorderScales, ALogarithmOfAnInputIsFloat) {
  for (const bool is_moved : {false, true}) {
    TestGraph t;
    ValueId x = t.input("x", {1, 6, 5});
    if (is_moved) x = t.node("moved", Permute{{0, 2, 1}}, {x});
    const i64 n = t.g.type(x).shape.back();
    const ValueId power = t.node("power", Unary{UnaryFn::log}, {x});
    t.output(t.node("y", Linear{}, {power, t.constant("w", {3, n}, random_floats(3 * n, 1))}));
    EXPECT_GE(scale(t, spectra(30), 35), 1);
  }
}

// Batch norm of a window [n, c, t]: its columns are moved to the last axis before they become of
// one size.
TEST(BorderScales, LinesBehindAMovedInputAreFloat) {
  TestGraph t;
  const ValueId x = t.input("x", {1, 2, 20});
  const ValueId moved = t.node("moved", Permute{{0, 2, 1}}, {x}),
                image = t.node("image", Reshape{{1, 20, 1, 2}}, {moved});
  const ValueId norm =
      t.node("norm", Conv2d{.groups = 2}, {image, t.constant("slope", {2, 1, 1, 1}, {1, 0.001f})});
  t.output(t.node("y", Conv2d{}, {norm, t.constant("w", {3, 3, 1, 2}, random_floats(18, 1))}));
  Samples samples = in_units({0, 0}, {1, 1000}, 20);
  for (auto& sample : samples) {
    const std::vector<float> rows = sample[0];
    for (size_t i = 0; i < rows.size(); ++i) sample[0][i % 2 * 20 + i / 2] = rows[i];
  }
  EXPECT_EQ(scale(t, samples, 35), 1);
}

TEST(BorderScales, AnInputIsAddedToAnOutputInFloat) {
  TestGraph t = scaler(kMean, kSize);
  const ValueId z = find_value(t.g, "z"), x = t.g.inputs[0].value;
  t.g.outputs.clear();
  const ValueId step =
      t.node("step", Linear{},
             {z, t.constant("v", {4, 4}, scaled(random_floats(16, 1), {10, 10, 10, 10}))});
  t.output(t.node("next", Add{}, {x, step}));
  Graph after;
  EXPECT_GE(scale(t, in_units(kMean, kSize, 1), 50, &after), 2);
  EXPECT_EQ(after.type(find_value(after, "next")).dtype, DType::f32);
  EXPECT_LT(find_value(after, "next_q"), 0);
}

// What is done is what all samples say; how large channels are, what some of them say.
TEST(BorderScales, SizesMayBeThoseOfSomeSamples) {
  TestGraph t;
  const std::vector<float> weight = scaled(random_floats(9, 1), {1, 1.0f / 4, 1.0f / 20});
  t.output(t.node("y", Linear{}, {t.input("x", {1, 3}), t.constant("w", {3, 3}, weight)}));
  Samples samples = in_units({0, 0, 0}, {1, 4, 20}, 1);
  const Samples some(samples.begin(), samples.begin() + 16);
  for (size_t s = 16; s < samples.size(); ++s) samples[s][0][1] *= 5;
  Diagnostics diagnostics;
  const auto seen = observe(t.g, samples, 1, diagnostics),
             reached = observe(t.g, some, 1, diagnostics);
  ASSERT_TRUE(seen && reached);
  Graph whole = t.g, version = t.g;
  const FloatPorts ports{{true}, {true}};
  EXPECT_GT(scale_borders(whole, *seen, ports), 0);
  EXPECT_GT(scale_borders(version, *seen, ports, Borders::all, &*reached), 0);
  EXPECT_EQ(whole.nodes.size(), version.nodes.size());
  EXPECT_EQ(whole.values.size(), version.values.size());
  EXPECT_GT(sqnr(t.g, version, samples), 90);
  // Of each column some reach as far as of any other.
  const Op& first = version.nodes[0].op;
  ASSERT_TRUE(std::holds_alternative<Affine>(first));
  const auto sized = observe(version, some, 1, diagnostics);
  const Observation& columns = (*sized)[version.nodes[0].outputs[0]];
  for (size_t c = 0; c < 3; ++c)
    EXPECT_NEAR(columns.channel_high[c] - columns.channel_low[c], columns.high - columns.low,
                1e-3 * (columns.high - columns.low));
}

TEST(BorderScales, NothingIsChangedForPortsThatAreSteps) {
  const TestGraph t = scaler(kMean, kSize);
  Diagnostics diagnostics;
  const auto seen = observe(t.g, in_units(kMean, kSize, 1), 1, diagnostics);
  Graph g = t.g;
  EXPECT_EQ(scale_borders(g, *seen, {}), 0);
}

// concat(linear(x[.., :4]), x[.., 4:]) -> linear: each part of one input has its own steps.
TEST(BorderScales, SlicesOfAnInputAreQuantizedByThemselves) {
  const std::vector<float> mean{0, 0, 0, 0, 500, 150, 25, 20000};
  const std::vector<float> size{1, 1, 1, 1, 500, 150, 25, 20000};
  std::vector<float> inverse(5, 1);
  for (size_t c = 4; c < 8; ++c) inverse.push_back(1 / size[c]);
  for (const bool is_sum : {false, true}) {
    TestGraph t;
    const ValueId x = t.input("x", {1, 8});
    const ValueId small = t.node("small", Slice{.axis = 1, .start = 0, .count = 4}, {x});
    const ValueId large = t.node("large", Slice{.axis = 1, .start = 4, .count = 4}, {x});
    const ValueId f = t.node("f", Linear{}, {small, t.constant("w", {5, 4}, random_floats(20, 1))});
    const std::vector<float> fan(inverse.begin() + 5, inverse.end());
    if (is_sum) {
      const ValueId w = t.constant("v", {5, 4}, scaled(random_floats(20, 2), fan));
      t.output(t.node("y", Add{}, {f, t.node("h", Linear{}, {large, w})}));
    } else {
      const ValueId w = t.constant("v", {3, 9}, scaled(random_floats(27, 2), inverse));
      t.output(t.node("y", Linear{}, {t.node("cat", Concat{1}, {f, large}), w}));
    }
    EXPECT_GE(scale(t, in_units(mean, size, 1), 32), 1);
  }
}

// Small numbers x[.., :4] and large ones x[.., 4:] of one input: a layer makes `small` of the
// first, and what is put together of `small` and the others goes through a layer that divides the
// large ones by what size they are.
struct MixedInput {
  TestGraph t;
  std::vector<float> size{500, 150, 25, 20000};
  ValueId x, large, small;
  MixedInput() : x(t.input("x", {1, 8})) {
    const ValueId few = t.node("few", Slice{.axis = 1, .start = 0, .count = 4}, {x});
    large = t.node("large", Slice{.axis = 1, .start = 4, .count = 4}, {x});
    small = t.node("small", Linear{.bounds = {0, INFINITY}},
                   {few, t.constant("w", {5, 4}, random_floats(20, 1))});
  }
  ValueId constant(const std::string& name, float of_small, float of_large) {
    std::vector<float> data(5, of_small);
    for (const float s : size) data.push_back(of_large * s);
    return t.constant(name, {9}, data);
  }
  // `power`: of the size, that an operand of nine channels has.
  void read(ValueId v, float power = 1) {
    std::vector<float> inverse(5, 1);
    for (const float s : size) inverse.push_back(std::pow(s, -power));
    t.output(
        t.node("y", Linear{}, {v, t.constant("v", {3, 9}, scaled(random_floats(27, 2), inverse))}));
  }
  int scaled_places(double least, Graph* after = nullptr) {
    std::vector<float> mean(4), all(4, 1);
    mean.insert(mean.end(), size.begin(), size.end());
    all.insert(all.end(), size.begin(), size.end());
    return scale(t, in_units(mean, all, 1, 64), least, after);
  }
};

TEST(BorderScales, FunctionsOfASliceAreFloatWhereItsColumnsAreOfManySizes) {
  for (const UnaryFn fn : {UnaryFn::abs, UnaryFn::sqrt, UnaryFn::log1p}) {
    MixedInput m;
    const ValueId f =
        m.t.node("f", Unary{fn}, {m.t.node("positive", Clamp{Bounds{0, INFINITY}}, {m.large})});
    m.read(m.t.node("cat", Concat{1}, {m.small, f}), fn == UnaryFn::abs    ? 1
                                                     : fn == UnaryFn::sqrt ? 0.5f
                                                                           : 0);
    EXPECT_GE(m.scaled_places(33), 1) << static_cast<int>(fn);
  }
}

// columns by unbind, each with a function of its own, and one without
TEST(BorderScales, ColumnsHaveFunctionsOfTheirOwn) {
  MixedInput m;
  std::vector<ValueId> parts{m.small};
  for (i64 c = 0; c < 4; ++c)
    parts.push_back(m.t.node("column" + std::to_string(c), Slice{.axis = 1, .start = c, .count = 1},
                             {m.large}));
  parts[1] =
      m.t.node("root", Unary{UnaryFn::sqrt}, {m.t.node("abs", Unary{UnaryFn::abs}, {parts[1]})});
  parts[2] = m.t.node("square", Mul{}, {parts[2], parts[3]});
  m.size = {22, 3750, 25, 20000};
  const std::vector<float> sizes = m.size;
  m.read(m.t.node("cat", Concat{1}, parts));
  m.size = {500, 150, 25, 20000};
  EXPECT_GE(m.scaled_places(32), 1);
}

TEST(BorderScales, SizesGoThroughWhatFollowsAConcatenation) {
  const std::vector<std::pair<const char*, std::function<ValueId(MixedInput&, ValueId)>>> forms{
      {"constant",
       [](MixedInput& m, ValueId v) {
         return m.t.node("sum", Add{}, {v, m.constant("c", 0.5f, -0.5f)});
       }},
      {"relu",
       [](MixedInput& m, ValueId v) {
         return m.t.node("r", Clamp{Bounds{0, INFINITY}}, {v});
       }},
      {"constant, relu",
       [](MixedInput& m, ValueId v) {
         return m.t.node("sum", Add{.bounds = {0, INFINITY}}, {v, m.constant("c", 0.5f, -0.5f)});
       }},
      {"leaky relu",
       [](MixedInput& m, ValueId v) {
         return m.t.node("l", Unary{UnaryFn::leaky_relu, 0.1f}, {v});
       }},
      {"another concatenation",
       [](MixedInput& m, ValueId v) {
         const ValueId f = m.t.node("f", Unary{UnaryFn::abs}, {m.large});
         const ValueId w = m.t.constant("u", {5, 5}, random_floats(25, 7));
         return m.t.node(
             "sum", Add{},
             {v, m.t.node("cat2", Concat{1}, {m.t.node("h", Linear{}, {m.small, w}), f})});
       }},
      {"a layer that also reads it", [](MixedInput& m, ValueId v) {
         std::vector<float> w = random_floats(81, 8), own(5, 1);
         own.insert(own.end(), m.size.begin(), m.size.end());
         for (size_t i = 0; i < w.size(); ++i) w[i] *= own[i / 9] / own[i % 9];
         return m.t.node("sum", Add{},
                         {v, m.t.node("h", Linear{}, {v, m.t.constant("u", {9, 9}, w)})});
       }}};
  for (const auto& [name, form] : forms) {
    MixedInput m;
    m.read(form(m, m.t.node("cat", Concat{1}, {m.small, m.large})));
    EXPECT_GE(m.scaled_places(30), 1) << name;
  }
}

// tanh((concat - mean) / size): nothing reads it that could undo sizes.
TEST(BorderScales, LinesBehindAConcatenationComeBeforeIt) {
  MixedInput m;
  const ValueId v = m.t.node(
      "sum", Add{}, {m.t.node("cat", Concat{1}, {m.small, m.large}), m.constant("c", 0, -1)});
  std::vector<float> inverse(5, 1);
  for (const float s : m.size) inverse.push_back(1 / s);
  const ValueId z = m.t.node("z", Mul{}, {v, m.t.constant("i", {9}, inverse)});
  m.t.output(m.t.node("y", Unary{UnaryFn::tanh}, {z}));
  EXPECT_GE(m.scaled_places(38), 1);
}

TEST(BorderScales, WhatIsPutTogetherForAnOutputIsFloat) {
  for (const bool is_sum : {false, true}) {
    MixedInput m;
    const ValueId cat =
        m.t.node("cat", Concat{1}, {m.small, m.t.node("f", Unary{UnaryFn::abs}, {m.large})});
    m.t.output(is_sum ? m.t.node("y", Add{}, {cat, m.constant("c", 1, 1)}) : cat);
    EXPECT_GE(m.scaled_places(30), 1);
  }
}

// How large the largest of few samples is says little of what follows: a channel of 1/40 is made at
// most so much larger than its layer's others that later data may be four times as large.
TEST(BorderScales, SmallChannelsOfALayerKeepRoom) {
  MixedInput m;
  std::vector<float> w = random_floats(20, 1);
  for (size_t i = 0; i < 4; ++i) w[i] /= 40;
  const ValueId few = find_value(m.t.g, "few");
  const ValueId rare = m.t.node("rare", Linear{}, {few, m.t.constant("r", {5, 4}, w)});
  m.read(m.t.node("cat", Concat{1}, {rare, m.large}));
  Graph after;
  EXPECT_GE(m.scaled_places(30, &after), 1);
  const ValueId sized = find_value(after, "r_q");
  ASSERT_GE(sized, 0);
  const std::vector<float>& scale = after.type(sized).quant.scale;
  EXPECT_GT(scale[0] * 40 / scale[1], 40 / 4 * 0.5f);
  EXPECT_LT(scale[0] * 2.5f, scale[1]);
}

}  // namespace
}  // namespace deuteron
