// SPDX-License-Identifier: Apache-2.0
// Random graphs of images compute the same after their orders are chosen, and transpose no more.
#include "compile/simplify/turn_images.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "base/tensor/axes.h"
#include "compile/calibrate/float_executor.h"
#include "compile/compilation.h"
#include "compile/options.h"
#include "compile/pipeline.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "targets/target.h"

namespace deuteron {
namespace {

// A graph as text: convolutions between transposes, and what stands around them in a model that is
// channels-first.
class ImageGraphWriter {
 public:
  explicit ImageGraphWriter(unsigned seed) : random_(seed) {}

  std::string write() {
    text_ = "graph \"t\"\nsource 0 \"a\" \"aten.a.default\"\n";
    for (int k = pick(1, 3); k > 0; --k) {
      images_.push_back({fmt::format("x{}", k), pick(2, 5)});
      text_ +=
          fmt::format("input {} : f32[1,{},5,7]\n", images_.back().name, images_.back().channels);
    }
    for (int k = pick(4, 14); k > 0; --k) step();
    text_ += fmt::format("output {}\n", images_.back().name);
    for (int k = pick(0, 2); k > 0; --k) text_ += fmt::format("output {}\n", any().name);
    return std::move(text_);
  }

 private:
  struct Named {
    std::string name;
    int channels;
  };
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  const Named& any() {
    return images_[static_cast<size_t>(pick(0, static_cast<int>(images_.size()) - 1))];
  }
  std::string add(const std::string& op, int channels, const char* shape = "1,{},5,7") {
    const std::string name = fmt::format("v{}", ++count_);
    text_ += fmt::format("{} = {} : f32[{}] from 0\n", name, op,
                         fmt::format(fmt::runtime(shape), channels));
    return name;
  }
  std::string constant(const std::string& shape) {
    const std::string name = fmt::format("c{}", ++count_);
    text_ += fmt::format("{} = const f32[{}] random({})\n", name, shape, count_);
    return name;
  }
  void step() {
    const Named x = any(), y = any();
    const int kind = pick(0, 9), c = x.channels;
    if (kind <= 1) {
      const int filters = pick(2, 5);
      const std::string weight = constant(fmt::format("{},3,3,{}", filters, c));
      const std::string last = add(fmt::format("permute({}) perm=0,2,3,1", x.name), c, "1,5,7,{}");
      const std::string made =
          add(fmt::format("conv2d({}, {}) pad_before=1,1 pad_after=1,1", last, weight), filters,
              "1,5,7,{}");
      images_.push_back({add(fmt::format("permute({}) perm=0,3,1,2", made), filters), filters});
    } else if (kind == 2) {
      images_.push_back({add(fmt::format("unary({}) fn=tanh", x.name), c), c});
    } else if (kind == 3) {
      const std::string scale = constant(fmt::format("{}{},1,1", pick(0, 1) ? "1," : "", c));
      images_.push_back({add(fmt::format("mul({}, {})", x.name, scale), c), c});
    } else if (kind == 4 && c == y.channels) {
      images_.push_back({add(fmt::format("add({}, {})", x.name, y.name), c), c});
    } else if (kind == 5 && c + y.channels < 12) {
      const int all = c + y.channels;
      images_.push_back({add(fmt::format("concat({}, {}) axis=1", x.name, y.name), all), all});
    } else if (kind == 6) {
      images_.push_back({add(fmt::format("gather({}) axis=2 index=4,3,2,1,0", x.name), c), c});
    } else if (kind == 7) {
      images_.push_back({add(fmt::format("cumsum({}) axis={}", x.name, pick(1, 3)), c), c});
    } else if (kind == 8) {  // wants the order that it has
      const std::string flat =
          add(fmt::format("reshape({}) shape=1,{},35", x.name, c), c, "1,{},35");
      const std::string sums = add(fmt::format("cumsum({}) axis=2", flat), c, "1,{},35");
      images_.push_back({add(fmt::format("reshape({}) shape=1,{},5,7", sums, c), c), c});
    } else if (kind == 9) {  // the user's own transpose
      const std::string last = add(fmt::format("permute({}) perm=0,2,3,1", x.name), c, "1,5,7,{}");
      const std::string sums = add(fmt::format("cumsum({}) axis=1", last), c, "1,5,7,{}");
      images_.push_back({add(fmt::format("permute({}) perm=0,3,1,2", sums), c), c});
    }
  }

  std::mt19937 random_;
  std::string text_;
  std::vector<Named> images_;
  int count_ = 0;
};

std::vector<std::vector<float>> image_results(const Graph& g) {
  std::vector<std::vector<float>> inputs, outputs;
  for (const Port& port : g.inputs) {
    inputs.emplace_back(g.type(port.value).elements());
    for (size_t k = 0; k < inputs.back().size(); ++k)
      inputs.back()[k] = static_cast<float>(k * 37 % 101) / 64 - 0.7f;
  }
  const std::vector<std::vector<float>> stored = FloatExecutor(g).run(stored_inputs(g, inputs), {});
  for (size_t o = 0; o < stored.size(); ++o)
    outputs.push_back(to_user(g.outputs[o], g.type(g.outputs[o].value).shape, stored[o]));
  return outputs;
}

i64 transposed_bytes(const Graph& g) {
  i64 bytes = 0;
  for (const Node& node : g.nodes)
    if (const Permute* permute = std::get_if<Permute>(&node.op);
        permute && !moves_nothing(permute->perm, g.type(node.inputs[0]).shape))
      bytes += 512 + g.type(node.outputs[0]).bytes();
  return bytes;
}

void expect_same(const Graph& before, const Graph& after, unsigned seed) {
  const std::optional<std::string> fault = find_fault(after);
  ASSERT_FALSE(fault) << "seed " << seed << ": " << *fault << "\n" << print(after);
  const std::vector<std::vector<float>> expected = image_results(before),
                                        got = image_results(after);
  ASSERT_EQ(expected.size(), got.size());
  for (size_t o = 0; o < expected.size(); ++o) {
    ASSERT_EQ(expected[o].size(), got[o].size());
    for (size_t k = 0; k < expected[o].size(); ++k)
      ASSERT_NEAR(expected[o][k], got[o][k], 1e-4 * (1 + std::abs(expected[o][k])))
          << "seed " << seed << "\n"
          << print(after);
  }
}

TEST(TurnImages, RandomGraphsComputeTheSameAndTransposeNoMore) {
  int better = 0;
  for (unsigned seed = 0; seed < 1000; ++seed) {
    Diagnostics diagnostics;
    const std::optional<Graph> before =
        parse(ImageGraphWriter(seed).write(), "test.txt", diagnostics);
    ASSERT_TRUE(before) << format_diagnostic(diagnostics.list()[0]);
    const bool ports_may_turn = seed % 2 == 0;
    Graph turned = *before;
    turn_images(turned, ports_may_turn);
    expect_same(*before, turned, seed);
    ASSERT_LE(transposed_bytes(turned), transposed_bytes(*before)) << "seed " << seed;

    CompileOptions options;
    options.contiguous_io = !ports_may_turn;
    const Target target;
    const Samples samples;
    Compilation result;
    i64 budget = 1 << 20;
    Graph whole = *before;
    PassContext context{whole, target, samples, options, result, diagnostics, &budget};
    ASSERT_TRUE(run_passes(context, "fold-constants", "infer-layout"));
    expect_same(*before, whole, seed);
    better += transposed_bytes(turned) < transposed_bytes(*before);
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(better, 500);
}

}  // namespace
}  // namespace deuteron
