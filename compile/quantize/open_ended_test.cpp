// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/open_ended.h"

#include "compile/quantize/test_quantized.h"

#pragma GCC diagnostic ignored \
    "-Wmissing-field-initializers"  // attributes that a case does not name keep their defaults

namespace deuteron {
namespace {

struct ScoredNetwork {
  ValueId x, y;  // what comes in, and what a network makes of it
};
ScoredNetwork scored_network(TestGraph& t) {
  const ValueId x = t.input("x", {1, 8});
  return {x,
          t.node("decoded", Linear{}, {x, t.constant("w", {8, 8}, random_floats(64, 1, -1, 1))})};
}

// By name of the node's result.
std::vector<std::string> scores_of(const Graph& g) {
  std::vector<std::string> found;
  const std::vector<bool> scores = open_ended_scores(g);
  for (size_t n = 0; n < scores.size(); ++n)
    if (scores[n]) found.push_back(g.values[g.nodes[n].outputs[0]].name);
  return found;
}
using Names = std::vector<std::string>;

TEST(OpenEndedScores, AreMeansOfSquaresThatBecomeOutputs) {
  TestGraph t;
  const auto [x, y] = scored_network(t);
  const ValueId difference = t.node("difference", Add{.alpha = -1}, {x, y});
  const ValueId squares = t.node("squares", Unary{UnaryFn::pow, 2}, {difference});
  const ValueId mean = t.node("mean", Reduce{Reduce::kMean, {1}}, {squares});
  t.output(t.node("score", Unary{UnaryFn::sqrt}, {mean}));
  EXPECT_EQ(scores_of(t.g), (Names{"difference", "squares", "mean", "score"}));
  const Samples samples = samples_of(t.g, 8);
  EXPECT_EQ(count_nodes<Quantize>(quantize(t.g, samples, {.may_use_float = true}).g), 2u)
      << "x for the layer, and its result";
  EXPECT_EQ(count_nodes<Quantize>(quantize(t.g, samples).g), 6u);
  t.output(mean);  // both grow without end
  EXPECT_EQ(scores_of(t.g).size(), 4u);
  t.output(difference);  // is an output of its own with steps
  EXPECT_EQ(scores_of(t.g), (Names{"squares", "mean", "score"}));
}

TEST(OpenEndedScores, AreDistancesAndProductsWithThemselves) {
  TestGraph t;
  const auto [x, y] = scored_network(t);
  const ValueId difference = t.node("difference", Add{.alpha = -1}, {x, y});
  t.output(
      t.node("l1", Reduce{Reduce::kSum, {1}}, {t.node("size", Unary{UnaryFn::abs}, {difference})}));
  t.output(t.node("power", Reduce{Reduce::kMean, {1}}, {t.node("product", Mul{}, {y, y})}));
  EXPECT_EQ(scores_of(t.g), (Names{"difference", "size", "l1", "product", "power"}));
}

TEST(OpenEndedScores, AreNotWhatHasAnEndOrIsReadOn) {
  TestGraph t;
  const auto [x, y] = scored_network(t);
  const ValueId squares = t.node("squares", Unary{UnaryFn::pow, 2}, {y});
  const ValueId mean = t.node("mean", Reduce{Reduce::kMean, {1}}, {squares});
  t.output(t.node("probability", Unary{UnaryFn::tanh}, {mean}));
  t.output(t.node("normal", Div{}, {y, mean}));
  t.output(t.node("half", Mul{}, {y, t.constant("c", {1, 8}, std::vector<float>(8, 0.5f))}));
  t.output(t.node("average", Reduce{Reduce::kMean, {1}}, {y}));
  EXPECT_EQ(scores_of(t.g), Names{});
}

}  // namespace
}  // namespace deuteron
