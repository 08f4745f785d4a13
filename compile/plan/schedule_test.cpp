// SPDX-License-Identifier: Apache-2.0
// Orders of nodes: what is alive, by hand; the least of all orders, on random graphs that are small
// enough to try them all.
#include "compile/plan/schedule.h"

#include <gmock/gmock.h>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

#include "compile/calibrate/test_graph.h"

namespace deuteron {
namespace {

using ::testing::ElementsAre;

// Of so many channels: 4 bytes each. Wide ones are made by a product with a constant, as narrow
// ones.
ValueId made(TestGraph& t, const std::string& name, ValueId x, i64 channels) {
  const i64 from = t.g.type(x).shape[1];
  return t.node(name, Linear{},
                {x, t.constant(name + "_w", {channels, from},
                               std::vector<float>(static_cast<size_t>(channels * from)))});
}

// Two branches that grow and shrink again, side by side.
TestGraph two_branches() {
  TestGraph t;
  const ValueId x = t.input("x", {1, 4});
  const ValueId a1 = made(t, "a1", x, 100), b1 = made(t, "b1", x, 100), a2 = made(t, "a2", a1, 4),
                b2 = made(t, "b2", b1, 4);
  t.output(t.node("y", Add{}, {a2, b2}));
  return t;
}

TEST(Schedule, KnowsWhatIsAlive) {
  const TestGraph t = two_branches();
  EXPECT_EQ(most_alive(t.g, {0, 1, 2, 3, 4}), 816);  // at b1 x, a1 and b1; at a2 a1, b1 and a2
  EXPECT_EQ(most_alive(t.g, {0, 2, 1, 3, 4}),
            432);  // at b1 x, a2 and b1, and at b2 b2 in the place of x
}

TEST(Schedule, FinishesABranchBeforeTheNext) {
  const TestGraph t = two_branches();
  const auto order = order_with_less_alive(t.g);
  ASSERT_TRUE(order);
  EXPECT_THAT(*order, ElementsAre(0, 2, 1, 3, 4));
}

TEST(Schedule, LeavesAChain) {
  TestGraph t;
  ValueId x = t.input("x", {1, 8});
  for (int k = 0; k < 5; ++k) x = made(t, fmt::format("l{}", k), x, 8 + 8 * (k % 2));
  t.output(x);
  EXPECT_FALSE(order_with_less_alive(t.g));
}

// More branches than can be tried beside each other at each step: an order is found all the same,
// and soon.
TEST(Schedule, FindsAnOrderAmongManyBranches) {
  TestGraph t;
  const ValueId x = t.input("x", {1, 4});
  std::vector<ValueId> wide, narrow;
  for (int k = 0; k < 200; ++k) wide.push_back(made(t, fmt::format("a{}", k), x, 100));
  for (int k = 0; k < 200; ++k) narrow.push_back(made(t, fmt::format("b{}", k), wide[k], 4));
  t.output(t.node("y", Concat{1}, narrow));
  const auto order = order_with_less_alive(t.g);
  ASSERT_TRUE(order);
  EXPECT_LT(most_alive(t.g, *order), 200 * 400 / 4);
}

// The least peak of every order there is.
i64 least_of_all(const Graph& g) {
  const Uses uses(g);
  std::vector<NodeId> order;
  std::vector<bool> done(g.nodes.size(), false);
  i64 best = INT64_MAX;
  const std::function<void()> grow = [&] {
    if (order.size() == g.nodes.size()) return void(best = std::min(best, most_alive(g, order)));
    for (size_t n = 0; n < g.nodes.size(); ++n) {
      const auto is_there = [&](ValueId v) {
        return uses.producer[v] < 0 || done[uses.producer[v]];
      };
      if (done[n] || !std::ranges::all_of(g.nodes[n].inputs, is_there)) continue;
      done[n] = true, order.push_back(static_cast<NodeId>(n));
      grow();
      done[n] = false, order.pop_back();
    }
  };
  grow();
  return best;
}

TEST(Schedule, IsTheLeastOnSmallGraphs) {
  std::mt19937 random(35);
  const auto below = [&](size_t n) { return random() % n; };
  int better = 0;
  for (int i = 0; i < 150; ++i) {
    TestGraph t;
    std::vector<ValueId> values{t.input("x", {1, 8}), t.input("z", {1, 24})};
    for (size_t n = 0; n < 7; ++n) {
      const ValueId from = values[below(values.size())];
      const std::string name = fmt::format("n{}", n);
      std::vector<ValueId> alike;
      for (const ValueId v : values)
        if (v != from && t.g.type(v).shape == t.g.type(from).shape) alike.push_back(v);
      if (!alike.empty() && below(3) == 0)
        values.push_back(t.node(name, Add{}, {from, alike[below(alike.size())]}));
      else values.push_back(made(t, name, from, 8 * static_cast<i64>(1 + below(6))));
    }
    const Uses uses(t.g);
    for (const ValueId v : values)
      if (uses.readers[v].empty() && uses.producer[v] >= 0) t.output(v);
    std::vector<NodeId> given(t.g.nodes.size());
    std::iota(given.begin(), given.end(), 0);
    const i64 now = most_alive(t.g, given), least = least_of_all(t.g);
    const auto order = order_with_less_alive(t.g);
    EXPECT_EQ(order.has_value(), least < now) << i;
    if (!order) continue;
    ++better;
    EXPECT_EQ(most_alive(t.g, *order), least) << i;
  }
  EXPECT_GT(better, 30);
}

}  // namespace
}  // namespace deuteron
