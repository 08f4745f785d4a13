// SPDX-License-Identifier: Apache-2.0
// A program without the channels that need not be computed gives the same bits: on random networks
// with filters that are dead, constant, nearly dead, equal or unread, on every kind of target. And
// what goes of small networks where it is known.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "compile/calibrate/test_graph.h"
#include "compile/compile.h"
#include "compile/options.h"
#include "compile/test_program.h"
#include "targets/target.h"

namespace deuteron {
namespace {

constexpr const char* kTargets[] = {"cortex-m0+", "cortex-m4", "cortex-m55", "imxrt700cm"};

// Float networks whose weights have what training leaves behind.
class DyingNetwork {
 public:
  explicit DyingNetwork(unsigned seed) : random_(seed) {}

  Graph grow() {
    ValueId x = t_.input("x", {1, 6 + below(5), 5 + below(5), 2 + below(4)});
    x = conv(x, {}, 4 + below(9));
    for (i64 k = 2 + below(4); k > 0; --k) x = grown(x);
    if (below(2) == 0) {
      AvgPool2d all;
      all.kernel = all.stride = {t_.g.type(x).shape[1], t_.g.type(x).shape[2]};
      if (below(2) == 0) x = add(all, {x});
      x = add(Reshape{{1, numel(t_.g.type(x).shape)}}, {x});
      if (below(2) == 0) x = linear(x, 6 + below(9), true);
      x = linear(x, 2 + below(4), false);
    } else if (below(2) == 0) {
      x = conv(x, {}, 3);
    }
    t_.output(x);
    return std::move(t_.g);
  }

 private:
  i64 below(i64 n) { return static_cast<i64>(random_() % static_cast<unsigned>(n)); }
  std::string name(const char* suffix = "") {
    return fmt::format("n{}{}", t_.g.values.size(), suffix);
  }
  ValueId add(Op op, std::vector<ValueId> inputs) {
    return t_.node(name(), std::move(op), std::move(inputs));
  }
  Bounds some_bounds() {
    const i64 which = below(4);
    return which == 0 ? Bounds{} : which == 1 ? Bounds{0, 6} : Bounds{.low = 0};
  }

  // Filters, and biases that keep some of them below or above what a relu lets through.
  std::vector<ValueId> parameters(Shape shape, float size) {
    const i64 filters = shape[0], length = numel(shape) / filters, depth = shape.back();
    std::vector<float> w = random_floats(numel(shape), static_cast<unsigned>(random_()), -size,
                                         size),
                       b = random_floats(filters, static_cast<unsigned>(random_()));
    for (i64 o = 0; o < filters; ++o) {
      const auto filter =
          std::span(w).subspan(static_cast<size_t>(o * length), static_cast<size_t>(length));
      const i64 kind = below(8);
      if (kind == 0) std::ranges::fill(filter, 0.0f);
      if (kind == 0 && below(2) == 0) b[o] = 0;
      if (kind == 1) b[o] = -40;
      if (kind == 2)
        std::ranges::transform(filter, filter.begin(), [](float v) { return v * 1e-4f; });
      if (kind == 3 && o > 0)
        std::ranges::copy_n(w.begin() + static_cast<std::ptrdiff_t>((o - 1) * length), length,
                            filter.begin()),
            b[o] = b[o - 1];
      if (kind == 4) b[o] = 9;
    }
    for (i64 c = 0; c < depth; ++c)
      if (below(6) == 0 && depth > 1)
        for (size_t k = static_cast<size_t>(c); k < w.size(); k += static_cast<size_t>(depth))
          w[k] = 0;
    const ValueId weight = t_.constant(name(".weight"), shape, std::move(w));
    if (below(5) == 0) return {weight};
    return {weight, t_.constant(name(".bias"), {filters}, std::move(b))};
  }
  ValueId layer(Op op, ValueId x, Shape shape, float size) {
    std::vector<ValueId> inputs{x};
    for (const ValueId v : parameters(std::move(shape), size)) inputs.push_back(v);
    return add(std::move(op), std::move(inputs));
  }
  ValueId linear(ValueId x, i64 out, bool bounded) {
    return layer(Linear{bounded ? some_bounds() : Bounds{}}, x, {out, t_.g.type(x).shape.back()},
                 0.4f);
  }
  ValueId conv(ValueId x, Bounds bounds, i64 out) {
    Conv2d a;
    const i64 kernel = 1 + 2 * below(2);
    const Shape& s = t_.g.type(x).shape;
    if (kernel == 3 && (below(2) == 0 || s[1] < 4 || s[2] < 4)) a.pad_before = a.pad_after = {1, 1};
    if (below(3) == 0 && std::min(s[1], s[2]) > 5) a.stride = {2, 2};
    a.bounds = bounds.none() ? some_bounds() : bounds;
    return layer(a, x, {out, kernel, kernel, s[3]}, 0.7f);
  }
  ValueId depthwise(ValueId x) {
    const i64 channels = t_.g.type(x).shape[3], multiple = 1 + (below(4) == 0);
    Conv2d a;
    a.groups = channels, a.pad_before = a.pad_after = {1, 1}, a.bounds = some_bounds();
    return layer(a, x, {channels * multiple, 3, 3, 1}, 0.9f);
  }

  ValueId grown(ValueId x) {
    const Shape s = t_.g.type(x).shape;
    switch (below(11)) {
      case 0:
      case 1:
        return conv(x, {}, 4 + below(10));
      case 2:
      case 3:
        return conv(depthwise(x), {}, 4 + below(10));
      case 4: {  // a residual block
        Conv2d same;
        same.bounds = some_bounds();
        const i64 inner = 3 + below(9);
        const ValueId first = conv1(x, inner),
                      second = layer(same, first, {s[3], 1, 1, inner}, 0.5f);
        const Bounds bounds = some_bounds();
        return add(Add{bounds}, {second, x});
      }
      case 5:
        return add(Concat{3}, {conv1(x, 2 + below(5)), conv1(x, 2 + below(5))});
      case 6: {
        const i64 start = below(s[3] - 1);
        return conv1(add(Slice{3, start, s[3] - start, 1}, {x}), 4 + below(7));
      }
      case 7: {
        MaxPool2d pool;
        pool.kernel = {2, 2};
        return std::min(s[1], s[2]) > 2 ? add(pool, {x}) : x;
      }
      case 8:
        return add(Pad{{0, 1, 0, 0}, {0, 0, 1, below(2) * 2}, 0}, {x});
      case 9: {  // squeeze and excite
        AvgPool2d all;
        all.kernel = all.stride = {s[1], s[2]};
        return add(Mul{}, {x, add(Unary{UnaryFn::sigmoid}, {conv1(add(all, {x}), s[3])})});
      }
      default:
        return below(2) == 0 ? add(Clamp{{-0.5f, 1}}, {x}) : add(Unary{UnaryFn::hardswish}, {x});
    }
  }
  ValueId conv1(ValueId x, i64 out) {
    Conv2d a;
    a.bounds = some_bounds();
    return layer(a, x, {out, 1, 1, t_.g.type(x).shape[3]}, 0.6f);
  }

  std::mt19937 random_;
  TestGraph t_;
};

std::optional<Compilation> compiled_slim(Graph graph, const Target& target, const Samples& samples,
                                         const CompileOptions& options, const std::string& what) {
  Diagnostics diagnostics;
  auto c = compile(std::move(graph), target, samples, options, diagnostics);
  EXPECT_TRUE(c) << what << ": " << (diagnostics.list().empty() ? "" : diagnostics.list()[0].what);
  return c;
}

// Of the int8 graph that a target quantizes to. Integers of TFLite are those of a model that says
// so.
Graph quantized_for(const Graph& g, const Target& target, const Samples& samples, bool of_tflite) {
  CompileOptions options;
  options.ports = PortTypes::steps;
  options.quantize.observer = Observer::min_max;
  options.quantize.correct_bias = false;
  options.stop_after = "fold-quantization";
  Graph quantized = compiled_slim(g, target, samples, options, "quantized")->graph;
  if (!of_tflite) return quantized;
  quantized.numerics = Numerics::tflite;
  for (const Node& node : quantized.nodes)
    if (name_of(node.op) == "linear")
      quantized.sources[static_cast<size_t>(node.origin.back())].target = "FULLY_CONNECTED";
  return quantized;
}

TEST(Slim, GivesTheSameBits) {
  i64 left_out = 0, constant = 0, alike = 0, unread = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    const Graph g = DyingNetwork(seed).grow();
    const i64 elements = g.type(g.inputs[0].value).elements();
    Samples samples;
    for (unsigned s = 0; s < 2; ++s) samples.push_back({random_floats(elements, 1000 * s + seed)});
    Diagnostics diagnostics;
    const std::string target_name = kTargets[seed % std::size(kTargets)];
    const std::optional<Target> target = find_target(target_name, diagnostics);
    const Graph quantized = quantized_for(g, *target, samples, seed % 3 == 0);
    CompileOptions options;
    options.ports = PortTypes::steps;
    options.packed_weights = seed % 5 != 0;
    const std::string what = fmt::format("network {} for {}", seed, target_name);
    const auto slimmed = compiled_slim(quantized, *target, {}, options, what);
    options.skip_passes = {"slim"};
    const auto whole = compiled_slim(quantized, *target, {}, options, what);
    if (!slimmed || !whole) continue;
    for (const float size : {1.0f, 30.0f}) {
      const std::vector<float> x = random_floats(elements, seed + 7, -size, size);
      EXPECT_EQ(int8_result_of(*slimmed, x), int8_result_of(*whole, x)) << what;
    }
    const SlimmedFilters of = slimmed_filters(slimmed->slimming);
    left_out += of.left_out, constant += of.constant, alike += of.alike, unread += of.unread;
  }
  EXPECT_GT(left_out, 1500);
  EXPECT_GT(constant, 1000);
  EXPECT_GT(alike, 50);
  EXPECT_GT(unread, 150);
}

}  // namespace
}  // namespace deuteron
