// SPDX-License-Identifier: Apache-2.0
// The cheapest sides: against trying them all on small graphs, and never worse than the two
// extremes.
#include "compile/place/choose_sides.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "compile/cost/crossing_cost.h"
#include "compile/place/min_cut.h"
#include "ir/text.h"
#include "targets/target.h"

namespace deuteron {
namespace {

i64 price(const TwoSides& s, const std::vector<bool>& here) {
  i64 sum = 0;
  for (size_t k = 0; k < here.size(); ++k) sum += here[k] ? s.here[k] : s.there[k];
  for (const TwoSides::Pair& p : s.pairs) sum += here[p.a] != here[p.b] ? p.price : 0;
  return sum;
}

TEST(MinCut, IsTheCheapestOfAllWaysToPart) {
  std::mt19937 bits(3);
  const auto below = [&](i64 n) { return static_cast<i64>(bits() % static_cast<uint32_t>(n)); };
  for (int round = 0; round < 400; ++round) {
    const auto n = static_cast<i32>(1 + below(9));
    TwoSides s;
    for (i32 k = 0; k < n; ++k) {
      s.here.push_back(below(5) == 0 ? kNever : below(40));
      s.there.push_back(below(40));
    }
    for (i64 k = below(14); k > 0; --k)
      s.pairs.push_back({static_cast<i32>(below(n)), static_cast<i32>(below(n)), below(25)});
    i64 least = kNever * 20;
    for (size_t set = 0; set < (size_t{1} << n); ++set) {
      std::vector<bool> here;
      for (i32 k = 0; k < n; ++k) here.push_back((set >> k & 1) != 0);
      least = std::min(least, price(s, here));
    }
    EXPECT_EQ(price(s, cheapest_sides(s)), least) << "round " << round;
  }
}

// A chain of clamps; its prices are the test's, and the whole costs what they say, with one call
// for each stretch on the NPU.
struct Chain {
  Graph graph;
  std::vector<bool> supported;
  std::vector<SideCosts> costs;
  NpuCrossing crossing{1000, 10, 32, 4};

  explicit Chain(const std::vector<SideCosts>& prices) : costs(prices) {
    std::string text = "input v0 : s8[1,8,8,16] q(scale=0.05 zero=3)\n";
    for (size_t k = 0; k < prices.size(); ++k)
      text += fmt::format("v{} = clamp(v{}) bounds=0,6 : s8[1,8,8,16] q(scale=0.05 zero=3)\n",
                          k + 1, k);
    Diagnostics d;
    graph = *parse(text + fmt::format("output v{}\n", prices.size()), "chain", d);
    for (const SideCosts& p : prices) supported.push_back(p.npu >= 0);
  }
  ProgramCost whole(const std::vector<bool>& on_npu) const {
    ProgramCost cost;
    for (size_t k = 0; k < on_npu.size(); ++k) {
      (on_npu[k] ? cost.npu : cost.cpu) += on_npu[k] ? costs[k].npu : costs[k].cpu;
      if (on_npu[k] && (k == 0 || !on_npu[k - 1]))
        cost.crossing += crossing.call_cycles + 2 * crossing_cycles(crossing, 1024);
    }
    return cost;
  }
  SideChoice choose() const {
    return *choose_sides(graph, supported, costs, crossing, [&](const std::vector<bool>& on_npu) {
      return std::optional(whole(on_npu));
    });
  }
};

TEST(ChooseSides, ATinyOperatorGoesToTheCpu) {
  const SideChoice c = Chain({{100, 90000}, {100, 90000}, {5000, 40}}).choose();
  EXPECT_EQ(c.on_npu, (std::vector<bool>{true, true, false}));
  EXPECT_LT(c.chosen.total(), c.all_npu->total());
}

TEST(ChooseSides, ATinyOperatorBetweenLargeOnesStays) {
  EXPECT_EQ(Chain({{100, 90000}, {900, 40}, {100, 90000}}).choose().on_npu,
            (std::vector<bool>{true, true, true}));
}

TEST(ChooseSides, NothingPaysForASmallModel) {
  EXPECT_EQ(Chain({{100, 300}, {100, 300}}).choose().on_npu, (std::vector<bool>{false, false}));
}

TEST(ChooseSides, WhatIsNotSupportedOrNotKnownStaysWhereItCanBe) {
  EXPECT_EQ(Chain({{100, 90000}, {-1, 50}, {100, 90000}}).choose().on_npu,
            (std::vector<bool>{true, false, true}));
  const Chain unknown({{100, -1}, {100, 20000}});
  EXPECT_TRUE(unknown.choose().on_npu[1]);
}

// Chains of random prices: at most the two extremes, and the least of all within a few steps of the
// search.
TEST(ChooseSides, IsNeverWorseThanTheExtremes) {
  std::mt19937 bits(11);
  int optimal = 0;
  constexpr int kRounds = 200;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<SideCosts> prices;
    const size_t n = 1 + bits() % 8;
    for (size_t k = 0; k < n; ++k)
      prices.push_back({bits() % 6 == 0 ? -1 : static_cast<i64>(bits() % 5000),
                        static_cast<i64>(bits() % 9000)});
    const Chain chain(prices);
    const SideChoice c = chain.choose();
    EXPECT_EQ(c.chosen.total(), chain.whole(c.on_npu).total());
    EXPECT_LE(c.chosen.total(), chain.whole(chain.supported).total());
    EXPECT_LE(c.chosen.total(), chain.whole(std::vector<bool>(n, false)).total());
    i64 least = c.chosen.total();
    for (size_t set = 0; set < (size_t{1} << n); ++set) {
      std::vector<bool> on;
      bool possible = true;
      for (size_t k = 0; k < n; ++k)
        on.push_back((set >> k & 1) != 0), possible &= !on[k] || chain.supported[k];
      if (possible) least = std::min(least, chain.whole(on).total());
    }
    optimal += c.chosen.total() == least;
    for (size_t k = 0; k < n; ++k) EXPECT_TRUE(chain.supported[k] || !c.on_npu[k]);
  }
  EXPECT_GE(optimal, kRounds * 9 / 10);
}

}  // namespace
}  // namespace deuteron
