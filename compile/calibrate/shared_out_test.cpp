// SPDX-License-Identifier: Apache-2.0
#include "compile/calibrate/shared_out.h"

#include <cmath>
#include <limits>

#include "base/tensor/elements.h"
#include "compile/calibrate/calibrate.h"
#include "compile/calibrate/float_executor.h"
#include "compile/calibrate/test_graph.h"

#pragma GCC diagnostic ignored \
    "-Wmissing-field-initializers"  // attributes that a case does not name keep their defaults

namespace deuteron {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLessCertain = 8;  // as in lowest_seen()

TEST(SharedOut, RowsAreSeenDownToADistanceFromTheirLargestNumber) {
  const float distance = std::log(512.0f * 3) + kLessCertain;
  EXPECT_FLOAT_EQ(lowest_seen(std::vector<float>{1, 5, -90, 7, 2, 3}, {3, 1}),
                  5 - distance);  // largest: 5, 7
  EXPECT_FLOAT_EQ(lowest_seen(std::vector<float>{1, 5, -90, 7, 2, 3}, {3, 2}),
                  2 - distance);  // rows 1, -90, 2 and 5, 7, 3
  EXPECT_FLOAT_EQ(
      lowest_seen(std::vector<float>{1, 5, 0, kMinusInfinity, kMinusInfinity, kMinusInfinity},
                  {3, 1}),
      5 - distance);
  EXPECT_EQ(lowest_seen(std::vector<float>(3, kMinusInfinity), {3, 1}), kInfinity);
}

// All but one at the lowest place: the result of that one loses less than half a step, and a number
// half as far below shows.
TEST(SharedOut, WhatLiesLowerShowsInNoInt8Result) {
  for (const i64 count : {2, 10, 1000}) {
    TestGraph t;
    t.output(t.node("y", Softmax{1}, {t.input("x", {1, count})}));
    const auto largest = [&](float below) {
      std::vector<float> x(static_cast<size_t>(count), -below);
      x[0] = 0;
      const std::vector<std::vector<float>> inputs{x};
      return FloatExecutor(t.g).run(inputs, {})[0][0];
    };
    const float low =
        lowest_seen(std::vector<float>(static_cast<size_t>(count), 0), {count, 1}) + kLessCertain;
    EXPECT_GT(largest(-low), 1 - 1.0f / 512) << count;
    EXPECT_LT(largest(-low / 2), 1 - 1.0f / 512) << count;
  }
}

// Of all samples, and of those without a part.
TEST(SharedOut, IsObservedWhereSoftmaxReads) {
  TestGraph t;
  const ValueId x = t.input("x", {2, 4}), y = t.node("y", Softmax{1}, {x});
  t.output(y);
  const Samples samples{{{9, 0, 0, 0, 8, 0, 0, 0}}, {{3, 0, -50, 0, 4, 0, 0, 0}}};
  const float distance = std::log(512.0f * 4) + kLessCertain;
  Diagnostics diagnostics;
  const auto seen = observe(t.g, samples, 1, diagnostics);
  ASSERT_TRUE(seen);
  EXPECT_FLOAT_EQ((*seen)[x].lowest_seen.value(), 3 - distance);
  EXPECT_EQ((*seen)[y].lowest_seen, std::nullopt);
  const auto parts = observe_parts(t.g, samples, std::vector<i32>{0, 1}, 2, 1, diagnostics);
  ASSERT_TRUE(parts);
  EXPECT_FLOAT_EQ((*parts)[0][x].lowest_seen.value(), 8 - distance);
  const std::vector<const Observation*> both{&(*parts)[0][x], &(*parts)[1][x]};
  EXPECT_FLOAT_EQ(merged_parts(both, std::vector<i64>{1, 1}).lowest_seen.value(), 3 - distance);
}

}  // namespace
}  // namespace deuteron
