// SPDX-License-Identifier: Apache-2.0
#include "compile/calibrate/histogram.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace deuteron {
namespace {

TEST(Histogram, HoldsAnyCounts) {
  const i64 most = std::numeric_limits<i64>::max();
  for (const std::vector<i64>& counts :
       {std::vector<i64>{}, {0}, {1}, {0, 0, 0}, {127, 128, 0, 16383, 16384}, {0, most, 0, 0, 1}}) {
    const Histogram h(counts);
    EXPECT_EQ(h.counts(), counts);
    EXPECT_EQ(h.size(), counts.size());
    EXPECT_EQ(h.empty(), counts.empty());
  }
  std::vector<i64> far(kHistogramBins);
  far[300] = 5, far[2047] = 70000;
  EXPECT_EQ(Histogram(far).counts(), far);
  EXPECT_EQ(Histogram(far).total(), 70005);
  EXPECT_NE(Histogram(far), Histogram(std::vector<i64>(kHistogramBins)));
}

// Few at a time and many at once, to both sides of where places become bins.
TEST(HistogramCounter, CountsThatAreFewOrMany) {
  std::minstd_rand random(3);
  for (const std::vector<size_t>& spans :
       {std::vector<size_t>{}, {8, 8, 8}, {2048}, {2049}, {2000, 48, 1}, {5, 100000, 5}}) {
    HistogramCounter counter;
    std::vector<i64> expected(kHistogramBins, 2), found = expected;  // beside what is there
    for (const size_t count : spans) {
      std::vector<int> places(count);
      for (int& place : places)
        ++expected[static_cast<size_t>(place = static_cast<int>(random() % kHistogramBins))];
      counter.count(count, [&](size_t i) { return places[i]; });
    }
    counter.add_to(found);
    EXPECT_EQ(found, expected);
  }
}

}  // namespace
}  // namespace deuteron
