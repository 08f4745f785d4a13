// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/mean_at_zero.h"

#include <gtest/gtest.h>

#include <cmath>

namespace deuteron {
namespace {

// Evenly in bins of low..high; `counts` are of the first bins.
Observation seen(float low, float high, std::vector<i64> counts) {
  Observation o;
  o.low = low, o.high = high, o.seen = true;
  counts.resize(kHistogramBins);
  o.bins = Histogram(counts);
  return o;
}

// Three of four numbers lie below half a step, and the three lowest results of four are about -6.
const Observation kPower = seen(0, 2048, [] {
  std::vector<i64> counts(kHistogramBins, 0);
  counts[0] = 3, counts[2000] = 1;
  return counts;
}());
const Observation kLogarithm = seen(-8, 8, [] {
  std::vector<i64> counts(kHistogramBins, 0);
  counts[256] = 3, counts[2000] = 1;
  return counts;
}());
const Quant kOfPower = per_tensor(8, -128), kOfLogarithm = per_tensor(0.0625f, 0);

float at_zero(const Op& op) { return evaluate(std::get<Pointwise>(op).program, 0); }

TEST(MeanAtZero, TheEntryForZeroIsTheMeanOfWhatWasSeenThere) {
  const auto op =
      with_mean_at_zero(Unary{UnaryFn::log}, kPower, kLogarithm, kOfPower, kOfLogarithm);
  ASSERT_TRUE(op);
  EXPECT_NEAR(at_zero(*op), -5.996, 1e-3);
  for (const float x : {8.0f, 16.0f, 2040.0f})
    EXPECT_EQ(evaluate(std::get<Pointwise>(*op).program, x), std::log(x));
}

TEST(MeanAtZero, AProgramKeepsItsStepsBehindTheBound) {
  const auto program = point_program_named("add(x,0.0001) log(%0,0) mul(%1,2)");
  ASSERT_TRUE(program);
  const auto op =
      with_mean_at_zero(Pointwise{*program}, kPower, kLogarithm, kOfPower, kOfLogarithm);
  ASSERT_TRUE(op);
  EXPECT_NEAR(at_zero(*op), -5.996, 1e-3);
  EXPECT_EQ(evaluate(std::get<Pointwise>(*op).program, 8), evaluate(*program, 8));
}

TEST(MeanAtZero, AFunctionThatFallsTakesTheHighestResults) {
  const Observation root = seen(0, 2048, [] {
    std::vector<i64> counts(kHistogramBins, 0);
    counts[1] = 1, counts[10] = 3;
    return counts;
  }());
  const auto op =
      with_mean_at_zero(Unary{UnaryFn::pow, -1}, kPower, root, kOfPower, per_tensor(8, -128));
  ASSERT_TRUE(op);
  EXPECT_NEAR(at_zero(*op), 10.5f, 1e-3);
}

TEST(MeanAtZero, OthersStayAsTheyAre) {
  const auto stays = [](const Op& op, const Observation& x, const Observation& y, const Quant& of_x,
                        const Quant& of_y) { return !with_mean_at_zero(op, x, y, of_x, of_y); };
  const Unary log{UnaryFn::log};
  EXPECT_TRUE(stays(Clamp{{0, 6}}, kPower, kLogarithm, kOfPower, kOfLogarithm));
  EXPECT_TRUE(stays(log, kPower, kLogarithm, per_tensor(8, 0), kOfLogarithm)) << "steps below zero";
  EXPECT_TRUE(stays(Unary{UnaryFn::cos}, kPower, kLogarithm, kOfPower, kOfLogarithm))
      << "rises and falls";
  EXPECT_TRUE(
      stays(Unary{UnaryFn::sqrt}, kPower, seen(0, 64, {3, 1}), kOfPower, per_tensor(0.25f, -128)))
      << "the same entry";
  Observation loud = kPower;
  std::vector<i64> counts = loud.bins.counts();
  counts[0] = 0;
  loud.bins = Histogram(counts);
  EXPECT_TRUE(stays(log, loud, kLogarithm, kOfPower, kOfLogarithm)) << "nothing was seen there";
}

}  // namespace
}  // namespace deuteron
