// SPDX-License-Identifier: Apache-2.0
// Placing against brute force on small instances, and its own rules on larger ones.
#include "compile/plan/place.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace deuteron {
namespace {

constexpr int64_t kUnit = 16;

// Everything that is alive in both memories at once keeps its distance, and no memory is used
// beyond its room.
void expect_sound(const std::vector<PlaceItem>& items, const std::vector<int64_t>& room,
                  const Placing& p) {
  ASSERT_EQ(p.memory.size(), items.size());
  int64_t cost = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    const auto m = static_cast<size_t>(p.memory[i]);
    ASSERT_LT(m, room.size());
    ASSERT_NE(items[i].cost[m], kNotThere);
    cost += items[i].cost[m];
    if (room[m] == kEndless) continue;
    ASSERT_EQ(p.offset[i] % kUnit, 0);
    ASSERT_LE(p.offset[i] + items[i].bytes, p.bytes[m]);
    ASSERT_LE(p.bytes[m], room[m]);
    for (size_t k = 0; k < i; ++k) {
      if (p.memory[k] != p.memory[i] || items[i].bytes == 0 || items[k].bytes == 0) continue;
      const bool meet = items[i].always || items[k].always ||
                        (items[i].first <= items[k].last && items[k].first <= items[i].last);
      const bool apart = p.offset[i] + items[i].bytes <= p.offset[k] ||
                         p.offset[k] + items[k].bytes <= p.offset[i];
      ASSERT_TRUE(!meet || apart) << i << " and " << k;
    }
  }
  EXPECT_EQ(cost, p.cost);
}

// The least cost over all ways to give each a memory; each memory is then packed as place() packs
// it.
struct PlaceBruteForce {
  const std::vector<PlaceItem>& items;
  const std::vector<int64_t>& room;
  std::vector<int32_t> memory = std::vector<int32_t>(items.size(), 0);
  int64_t best = INT64_MAX;

  bool fits() const {
    for (size_t m = 0; m < room.size(); ++m) {
      if (room[m] == kEndless) continue;
      std::vector<PackItem> here;
      int64_t always = 0;
      for (size_t i = 0; i < items.size(); ++i) {
        if (memory[i] != static_cast<int32_t>(m)) continue;
        if (items[i].always) always += (items[i].bytes + kUnit - 1) / kUnit * kUnit;
        else
          here.push_back({items[i].bytes, items[i].first, items[i].last, kUnit, items[i].pieces});
      }
      if (always + (pack(here).bytes + kUnit - 1) / kUnit * kUnit > room[m]) return false;
    }
    return true;
  }
  void search(size_t i, int64_t cost) {
    if (cost >= best) return;
    if (i == items.size()) {
      if (fits()) best = cost;
      return;
    }
    for (size_t m = 0; m < room.size(); ++m) {
      if (items[i].cost[m] == kNotThere) continue;
      memory[i] = static_cast<int32_t>(m);
      search(i + 1, cost + items[i].cost[m]);
    }
  }
};

std::vector<PlaceItem> random_things(std::mt19937& random, size_t count, size_t memories,
                                     bool with_home) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::vector<PlaceItem> items(count);
  for (PlaceItem& item : items) {
    item.bytes = 1 + below(200);
    item.always = below(3) == 0;
    item.first = below(6);
    item.last = item.always ? 7 : std::min(7, item.first + below(3));
    if (item.always) item.first = 0;
    const int64_t read = below(50), written = below(20);
    for (size_t m = 0; m < memories; ++m)
      item.cost.push_back(static_cast<int64_t>(m) * (read * 3 + written * 5));
    if (with_home && item.always && below(2)) item.cost.back() = read * 40;
    if (below(8) == 0) item.cost[0] = kNotThere;
  }
  return items;
}

TEST(Place, MatchesBruteForce) {
  std::mt19937 random(20260);
  int tight = 0, proved = 0, possible = 0;
  for (int round = 0; round < 400; ++round) {
    const size_t memories = 2 + random() % 2, count = 2 + random() % (memories == 2 ? 9 : 6);
    std::vector<int64_t> room;
    for (size_t m = 0; m + 1 < memories; ++m)
      room.push_back(static_cast<int64_t>(64 + random() % 500));
    room.push_back(random() % 3 ? kEndless : static_cast<int64_t>(300 + random() % 400));
    const std::vector<PlaceItem> items =
        random_things(random, count, memories, room.back() == kEndless);
    PlaceBruteForce brute{items, room};
    brute.search(0, 0);
    const Placing p = place(items, room, kUnit), greedy = place_greedily(items, room, kUnit);
    SCOPED_TRACE(round);
    ASSERT_EQ(p.possible, brute.best != INT64_MAX);
    if (!p.possible) continue;
    expect_sound(items, room, p);
    ASSERT_LE(p.bound, brute.best);
    ASSERT_EQ(p.optimal, p.bound == p.cost);
    if (p.optimal) { ASSERT_EQ(p.cost, brute.best); }
    ++possible, proved += p.optimal;
    if (greedy.possible) expect_sound(items, room, greedy);
    tight += greedy.possible && greedy.cost > p.cost;
  }
  EXPECT_GT(tight, 40) << "the instances are too easy";
  EXPECT_GT(possible, 300);
  // Where the packing of a way needs more than its sums, a way that it beat might have needed less:
  // then the bound stays below.
  EXPECT_GT(proved, possible * 95 / 100);
  RecordProperty("proved", proved);
}

TEST(Place, BudgetCutsAndSaysTheBound) {
  std::mt19937 random(7);
  const std::vector<PlaceItem> items = random_things(random, 120, 3, false);
  const std::vector<int64_t> room = {900, 1700, kEndless};
  const Placing whole = place(items, room, kUnit), cut = place(items, room, kUnit, 1000),
                again = place(items, room, kUnit, 1000);
  ASSERT_TRUE(whole.possible && cut.possible);
  expect_sound(items, room, whole);
  expect_sound(items, room, cut);
  EXPECT_LE(whole.cost, cut.cost);
  EXPECT_LE(cut.bound, whole.cost);
  EXPECT_EQ(cut.memory, again.memory);
  EXPECT_EQ(cut.offset, again.offset);
}

TEST(Place, NothingFits) {
  const std::vector<PlaceItem> items = {{100, 0, 1, false, {}, {0, 5}},
                                        {100, 1, 2, false, {}, {0, kNotThere}}};
  EXPECT_FALSE(place(items, std::vector<int64_t>{96, 96}, kUnit).possible);
  const Placing p = place(items, std::vector<int64_t>{112, 112}, kUnit);
  ASSERT_TRUE(p.possible);
  EXPECT_EQ(p.memory, (std::vector<int32_t>{1, 0}));
  EXPECT_EQ(p.cost, 5);
}

TEST(Place, NoItems) {
  const Placing p = place({}, std::vector<int64_t>{64}, kUnit);
  EXPECT_TRUE(p.possible);
  EXPECT_EQ(p.cost, 0);
}

}  // namespace
}  // namespace deuteron
