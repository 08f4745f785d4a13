// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/bounded_outputs.h"

#include <algorithm>
#include <array>

#include "compile/calibrate/test_graph.h"
#include "compile/quantize/insert_quantization.h"
#include "compile/quantize/test_quantized.h"
#include "compile/quantize/yardstick.h"

#pragma GCC diagnostic ignored \
    "-Wmissing-field-initializers"  // attributes that a case does not name keep their defaults

namespace deuteron {
namespace {

// logits [1,6] behind a linear layer, as large as `gain` makes them; softmax, reshaped; and what
// another operator makes.
TestGraph classifier(float gain) {
  TestGraph t;
  const ValueId x = t.input("x", {1, 8});
  std::vector<float> w = random_floats(48, 1);
  for (float& v : w) v *= gain;
  const ValueId logits = t.node("logits", Linear{}, {x, t.constant("w", {6, 8}, w)});
  t.output(t.node("flat", Reshape{{6}}, {t.node("softmax", Softmax{1}, {logits})}));
  t.output(t.node("other", Linear{}, {x, t.constant("v", {3, 8}, random_floats(24, 2))}));
  return t;
}

TEST(BoundedOutputs, AreFoundInAFloatGraphAndInWhatBecomesOfIt) {
  TestGraph t = classifier(1);
  const std::vector<BoundedOutput> plain = bounded_outputs(t.g);
  ASSERT_EQ(plain.size(), 1U);
  EXPECT_EQ(plain[0].read, find_value(t.g, "logits"));
  EXPECT_EQ(plain[0].softmax_axis, 1);
  Diagnostics diagnostics;
  const auto seen = observe(t.g, {{random_floats(8, 3)}, {random_floats(8, 4)}}, 1, diagnostics);
  ASSERT_TRUE(seen);
  insert_quantization(t.g, *seen, {}, diagnostics);
  const std::vector<BoundedOutput> quantized = bounded_outputs(t.g);
  ASSERT_EQ(quantized.size(), 1U);
  EXPECT_EQ(quantized[0].shape, (Shape{1, 6}));
  EXPECT_EQ(t.g.values[quantized[0].read].name, "logits_q_dq");
}

TEST(BoundedOutputs, OfSoftmaxAreTheSameWhenAllMoveAlike) {
  const BoundedOutput middle{0, {2, 3, 2}, 1};
  std::vector<float> x = random_floats(12, 5), moved = x;
  for (size_t k = 0; k < moved.size(); ++k)
    moved[k] += std::array{1.0f, -2.0f, 4.0f, 0.5f}[k / 6 * 2 + k % 2];
  std::vector<float> kept = x;
  forget_what_is_not_seen({0, {2, 3, 2}, -1}, kept);
  EXPECT_EQ(kept, x);
  forget_what_is_not_seen(middle, x), forget_what_is_not_seen(middle, moved);
  for (size_t k = 0; k < x.size(); ++k) EXPECT_NEAR(x[k], moved[k], 1e-6) << k;
  EXPECT_NEAR(x[0] + x[2] + x[4], 0, 1e-6);
  EXPECT_NE(x[0], kept[0]);
}

// Samples whose largest logit is far above the next one.
Samples certain_samples(const Graph& g, size_t count) {
  const FloatExecutor executor(g);
  const ValueId logits = find_value(g, "logits");
  Samples samples;
  for (unsigned s = 0; samples.size() < count; ++s) {
    const std::vector<std::vector<float>> sample{random_floats(8, s)};
    executor.run(sample, [&](ValueId v, std::span<const float> data) {
      if (v != logits) return;
      std::vector<float> sorted(data.begin(), data.end());
      std::ranges::sort(sorted);
      if (sorted[5] - sorted[4] > 150) samples.push_back(sample);
    });
  }
  return samples;
}

// Steps that are four times as coarse lose 12 dB of the logits. Where softmax is certain, its
// output does not tell.
TEST(BoundedOutputs, TellCandidatesApartThatAreTheSameAtTheOutputs) {
  TestGraph t = classifier(200);
  t.g.outputs.pop_back();
  const Samples samples = certain_samples(t.g, 8);
  Diagnostics diagnostics;
  Yardstick yardstick(samples, 1, 1000, 1);
  const auto seen = observe(t.g, samples, 1, diagnostics);
  ASSERT_TRUE(seen);
  yardstick.expect_answers_of(t.g);
  const auto score_with = [&](float coarser) {
    std::vector<Observation> ranges = *seen;
    Observation& logits = ranges[find_value(t.g, "logits")];
    logits.low *= coarser, logits.high *= coarser, logits.bins = {};
    Graph g = t.g;
    insert_quantization(g, ranges, {.observer = Observer::min_max}, diagnostics);
    return yardstick.held_out([&](i32) { return g; });
  };
  const Score fine = score_with(1), coarse = score_with(4);
  EXPECT_NEAR(fine.sqnr_db, coarse.sqnr_db, 0.2);
  EXPECT_GT(fine.value, coarse.value + 5);
  EXPECT_EQ(fine.before_bounds.size(), samples.size());
}

// A part of size 0.01 beside one of 100: the sum over both would not see what the small one loses.
TEST(Yardstick, WeighsEachPartByItsOwnSize) {
  TestGraph t;
  const ValueId x = t.input("x", {1, 4});
  std::vector<float> w = random_floats(32, 3, -1, 1);
  for (size_t k = 16; k < w.size(); ++k) w[k] *= 1e-4f;
  t.output(t.node("y", Linear{}, {x, t.constant("w", {8, 4}, w)}));
  const Samples samples = samples_of(t.g, 16);
  Yardstick yardstick(samples, 1, 100000, 1);
  Diagnostics diagnostics;
  ASSERT_TRUE(yardstick.observe(t.g, diagnostics));
  yardstick.expect_answers_of(t.g);
  const auto score_with = [&](float large, float small) {
    TestGraph other = t;
    std::vector<float> changed = w;
    for (size_t k = 0; k < w.size(); ++k) changed[k] *= k < 16 ? large : small;
    other.g.values[find_value(other.g, "w")].constant = constant_of(std::move(changed));
    return yardstick.held_out([&](i32) { return other.g; });
  };
  const Score of_large = score_with(1.1f, 1), of_small = score_with(1, 1.1f),
              lost = score_with(1, 0);
  EXPECT_NEAR(of_large.value, 20, 0.2);
  EXPECT_GT(of_small.sqnr_db, 90);
  EXPECT_NEAR(of_small.value, 23 + 12,
              0.5);  // a tenth of one half of the parts; and what parts may lack
  EXPECT_NEAR(lost.value, 3 + 12, 0.5);
  const HeldOut expected = yardstick.expected_of_parts(of_small.parts);
  EXPECT_GT(expected.db, 90);  // the sum
  ASSERT_EQ(expected.parts.size(), 8u);
  EXPECT_NEAR(expected.parts[7].db, 20, 0.1);
  EXPECT_EQ(expected.parts[7].index, 7);
}

// What an argmax reads tells what its numbers do not.
TEST(Yardstick, CountsIntegersApart) {
  TestGraph t;
  const ValueId x = t.input("x", {1, 4});
  const ValueId y =
      t.node("y", Linear{}, {x, t.constant("w", {3, 4}, random_floats(12, 3, -1, 1))});
  const ValueId best = t.g.add_node(KernelCall{.name = "aten::argmax.out"}, {y},
                                    {Type{DType::s64, {1}, {}}}, "best", {0});
  t.output(best);
  const std::vector<BoundedOutput> found = bounded_outputs(t.g);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].read, y);
}

}  // namespace
}  // namespace deuteron
