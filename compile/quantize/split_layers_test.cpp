// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/split_layers.h"

#include <cmath>

#include "compile/quantize/border_scales.h"
#include "compile/quantize/test_quantized.h"

#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace deuteron {
namespace {

// Of 7 channels of a 1x1 convolution 4 are boxes of some hundred, and 3 are scores.
struct Head {
  TestGraph t;
  ValueId y;
  explicit Head(float boxes = 120, i64 anchors = 1) {
    const ValueId x = t.input("x", {1, 5, 4, 8});
    std::vector<float> w = random_floats(anchors * 7 * 8, 1, -0.3f, 0.3f);
    for (size_t i = 0; i < w.size(); ++i) w[i] *= i / 8 % 7 < 4 ? boxes : 1;
    const ValueId weight = t.constant("w", {anchors * 7, 1, 1, 8}, std::move(w));
    const ValueId bias = t.constant("b", {anchors * 7}, random_floats(anchors * 7, 2));
    y = t.node("head", Conv2d{}, {x, weight, bias});
  }
  ValueId slice(ValueId v, i64 axis, i64 start, i64 count) {
    const Slice slice{.axis = axis, .start = start, .count = count};
    return t.node("slice" + std::to_string(start), slice, {v});
  }
};

// The worst channel, along the last axis of the first output, of what is quantized with and without
// scales at the borders.
struct Worst {
  double before, after;
  Graph g;
};
double worst_channel(const Graph& g, const Graph& rounded, const Samples& samples) {
  const FloatExecutor a(g), b(rounded);
  const auto channels = static_cast<size_t>(g.type(g.outputs[0].value).shape.back());
  double worst = 200;
  for (size_t c = 0; c < channels; ++c) {
    std::vector<float> x, y;
    for (const auto& sample : samples) {
      const auto p = a.run(sample, {}), q = b.run(sample, {});
      for (size_t i = c; i < p[0].size(); i += channels) x.push_back(p[0][i]), y.push_back(q[0][i]);
    }
    worst = std::min(worst, sqnr_db(x, y));
  }
  return worst;
}
Worst worst(const TestGraph& t) {
  const Samples samples = samples_of(t.g, 32);
  Diagnostics d;
  const auto seen = observe(t.g, samples, 1, d);
  Worst w{worst_channel(t.g, quantize(t.g, samples).g, samples), 0, t.g};
  const FloatPorts ports{std::vector<bool>(t.g.inputs.size(), true),
                         std::vector<bool>(t.g.outputs.size(), true)};
  scale_borders(w.g, *seen, ports);
  EXPECT_FALSE(find_fault(w.g)) << *find_fault(w.g);
  EXPECT_GT(sqnr(t.g, w.g, samples), 90);
  w.after = worst_channel(t.g, quantize(w.g, samples).g, samples);
  return w;
}

TEST(SplitLayers, BoxesAndScoresOfOneConvolution) {
  for (const UnaryFn fn : {UnaryFn::sigmoid, UnaryFn::tanh, UnaryFn::exp}) {
    Head h;
    const ValueId scores = h.t.node("scores", Unary{fn, 0}, {h.slice(h.y, 3, 4, 3)});
    h.t.output(h.t.node("cat", Concat{3}, {h.slice(h.y, 3, 0, 4), scores}));
    const Worst w = worst(h.t);
    EXPECT_LT(w.before, 25);
    EXPECT_GT(w.after, 35);
    EXPECT_EQ(count_nodes<Conv2d>(w.g), 2u);
    EXPECT_EQ(count_nodes<Slice>(w.g), 0u);
  }
}

TEST(SplitLayers, PartsOfOneSizeStayTogether) {
  Head h;
  std::vector<ValueId> parts;
  for (i64 c = 0; c < 7; ++c) {
    parts.push_back(h.slice(h.y, 3, c, 1));
    if (c >= 4) parts.back() = h.t.node("score", Unary{UnaryFn::sigmoid, 0}, {parts.back()});
  }
  h.t.output(h.t.node("cat", Concat{3}, parts));
  const Worst w = worst(h.t);
  EXPECT_GT(w.after, 35);
  EXPECT_LE(count_nodes<Conv2d>(w.g), 3u);
}

TEST(SplitLayers, PickedInAnyOrder) {
  Head h;
  const ValueId boxes = h.t.node("boxes", Gather{3, {1, 0, 3, 2}}, {h.y});
  const ValueId scores = h.t.node("scores", Gather{3, {6, 4, 5}}, {h.y});
  const ValueId bent = h.t.node("bent", Unary{UnaryFn::sigmoid, 0}, {scores});
  h.t.output(h.t.node("cat", Concat{3}, {bent, boxes}));
  EXPECT_GT(worst(h.t).after, 35);
}

// [1,h,w,anchors * 7] as [1,anchors,h,w,7], and then slices: the layer is split across the anchors.
TEST(SplitLayers, BehindMoves) {
  Head h(120, 2);
  const ValueId r = h.t.node("r", Reshape{{1, 5, 4, 2, 7}}, {h.y});
  const ValueId p = h.t.node("p", Permute{{0, 3, 1, 2, 4}}, {r});
  const ValueId scores = h.t.node("scores", Unary{UnaryFn::sigmoid, 0}, {h.slice(p, 4, 4, 3)});
  const ValueId cat = h.t.node("cat", Concat{4}, {h.slice(p, 4, 0, 4), scores});
  h.t.output(h.t.node("flat", Reshape{{1, 40, 7}}, {cat}));
  const Worst w = worst(h.t);
  EXPECT_LT(w.before, 25);
  EXPECT_GT(w.after, 35);
  EXPECT_EQ(count_nodes<Conv2d>(w.g), 2u);
}

TEST(SplitLayers, ALayerStaysWholeWhereItsPartsAreOfOneSizeOrItIsReadWhole) {
  for (const bool is_read_whole : {false, true}) {
    Head h(is_read_whole ? 120.0f : 1.0f);
    const ValueId scores = h.t.node("scores", Unary{UnaryFn::sigmoid, 0}, {h.slice(h.y, 3, 4, 3)});
    h.t.output(h.t.node("cat", Concat{3}, {h.slice(h.y, 3, 0, 4), scores}));
    if (is_read_whole) h.t.output(h.t.node("bent", Unary{UnaryFn::tanh, 0}, {h.y}));
    Diagnostics d;
    std::vector<Observation> seen = *observe(h.t.g, samples_of(h.t.g, 8), 1, d);
    Graph g = h.t.g;
    EXPECT_EQ(split_layers(g, seen, seen), 0);
  }
}

}  // namespace
}  // namespace deuteron
