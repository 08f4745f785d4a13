// SPDX-License-Identifier: Apache-2.0
// The packer against brute force on small instances, against known optima on cut rectangles, and on
// many tensors.
#include "base/allocate/pack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace deuteron {
namespace {

bool meet(const PackItem& a, const PackItem& b) { return a.first <= b.last && b.first <= a.last; }

std::vector<PackPiece> pieces_of(const PackItem& item) {
  return item.pieces.empty() ? std::vector<PackPiece>{{0, item.bytes, item.first, item.last}}
                             : item.pieces;
}

// A byte of one on a byte of the other while both are alive.
bool collide(const PackItem& a, int64_t at_a, const PackItem& b, int64_t at_b) {
  for (const PackPiece& p : pieces_of(a))
    for (const PackPiece& q : pieces_of(b))
      if (p.first <= q.last && q.first <= p.last && at_a + p.begin < at_b + q.end &&
          at_b + q.begin < at_a + p.end)
        return true;
  return false;
}

void expect_valid(const std::vector<PackItem>& items, const PackResult& p) {
  ASSERT_EQ(p.offset.size(), items.size());
  int64_t end = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    ASSERT_GE(p.offset[i], 0);
    ASSERT_EQ(p.offset[i] % items[i].alignment, 0) << i;
    end = std::max(end, p.offset[i] + items[i].bytes);
    for (size_t k = 0; k < i; ++k) {
      if (items[i].bytes == 0 || items[k].bytes == 0) continue;
      ASSERT_FALSE(collide(items[i], p.offset[i], items[k], p.offset[k]))
          << i << " and " << k << " overlap";
    }
  }
  EXPECT_LE(end, p.bytes);
  EXPECT_LE(p.lower_bound, p.bytes);
  EXPECT_EQ(p.optimal, p.lower_bound == p.bytes);
}

// The least height over all orders of first fit: some order gives an optimal placement (that of its
// offsets). An order is left as soon as it is no better than the best one.
struct BruteForce {
  const std::vector<PackItem>& items;
  std::vector<int64_t> at = std::vector<int64_t>(items.size(), -1);
  int64_t best = INT64_MAX;
  int64_t enough = 0;  // what is alive at once needs as much

  int64_t lowest_place(size_t i) const {
    int64_t place = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t k = 0; k < items.size(); ++k) {
        if (at[k] < 0 || !meet(items[i], items[k]) || place >= at[k] + items[k].bytes ||
            at[k] >= place + items[i].bytes)
          continue;
        place = (at[k] + items[k].bytes + items[i].alignment - 1) / items[i].alignment *
                items[i].alignment;
        moved = true;
      }
    }
    return place;
  }
  void place_rest(int64_t height) {
    if (height >= best || best <= enough) return;
    bool all = true;
    for (size_t i = 0; i < items.size(); ++i) {
      if (at[i] >= 0 || items[i].bytes == 0) continue;
      all = false;
      at[i] = lowest_place(i);
      place_rest(std::max(height, at[i] + items[i].bytes));
      at[i] = -1;
    }
    if (all) best = height;
  }
};
int64_t brute_force(const std::vector<PackItem>& items, int64_t unit) {
  const auto rounded = [&](int64_t bytes) { return (bytes + unit - 1) / unit * unit; };
  BruteForce b{items};
  for (const PackItem& now : items) {
    int64_t sum = 0;
    for (const PackItem& item : items)
      sum += item.first <= now.first && now.first <= item.last ? rounded(item.bytes) : 0;
    b.enough = std::max(b.enough, sum);
  }
  b.place_rest(0);
  return rounded(b.best);
}

TEST(Pack, NothingAndOneItem) {
  EXPECT_EQ(pack({}).bytes, 0);
  EXPECT_TRUE(pack({}).optimal);
  const std::vector<PackItem> one = {{33, 5, 5, 16}};
  const PackResult p = pack(one);
  expect_valid(one, p);
  EXPECT_EQ(p.bytes, 48);
  EXPECT_EQ(p.lower_bound, 48);
}

TEST(Pack, ItemsOfNoBytesTakeNoPlace) {
  const std::vector<PackItem> items = {
      {0, 0, 9, 16}, {16, 0, 3, 16}, {0, 2, 2, 16}, {16, 4, 9, 16}};
  const PackResult p = pack(items);
  expect_valid(items, p);
  EXPECT_EQ(p.bytes, 16);
  EXPECT_EQ(p.offset[0], 0);
}

TEST(Pack, BothEndsOfALifeCount) {
  const std::vector<PackItem> items = {
      {16, 0, 3, 16}, {16, 3, 5, 16}, {16, 5, 5, 16}, {16, 6, 7, 16}};
  const PackResult p = pack(items);
  expect_valid(items, p);
  EXPECT_EQ(p.bytes, 32);
}

// Some of them need more than the largest sum alive at once, so the search has something to prove.
TEST(Pack, AgreesWithBruteForceOnRandomSmallInstances) {
  std::mt19937 random(20240131);
  int above_sum = 0, proved = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<PackItem> items(3 + random() % 6);
    int64_t unit = INT64_MAX;
    const bool mixed = round % 4 == 3;
    for (PackItem& item : items) {
      item.alignment = mixed ? int64_t{1} << random() % 5 : 16;
      item.bytes = static_cast<int64_t>(random() % (mixed ? 90 : 9 * 16));
      item.first = static_cast<int32_t>(random() % 9) - 2;
      item.last = item.first + static_cast<int32_t>(random() % 5);
      unit = std::min(unit, item.alignment);
    }
    const PackResult p = pack(items);
    expect_valid(items, p);
    EXPECT_EQ(p.bytes, brute_force(items, unit)) << "round " << round;
    EXPECT_TRUE(p.optimal) << "round " << round;
    above_sum += p.bytes > p.largest_sum;
    proved += p.optimal;
  }
  EXPECT_EQ(proved, 300);
  EXPECT_GT(above_sum, 0) << "no instance needed the search: the test is too easy";
}

// A rectangle of `time` x `height` units cut again and again by guillotine: a placement without any
// waste exists by construction.
std::vector<PackItem> cut_rectangle(int32_t time, int64_t height, int pieces,
                                    std::mt19937& random) {
  struct Piece {
    int32_t first, last;
    int64_t low, high;
  };
  std::vector<Piece> list = {{0, time - 1, 0, height}};
  while (static_cast<int>(list.size()) < pieces) {
    Piece& p = list[random() % list.size()];
    const bool in_time = random() % 2;
    if (in_time && p.last > p.first) {
      const int32_t at =
          p.first + static_cast<int32_t>(random() % static_cast<uint32_t>(p.last - p.first));
      const Piece late = {at + 1, p.last, p.low, p.high};
      p.last = at;
      list.push_back(late);
    } else if (!in_time && p.high - p.low > 1) {
      const int64_t at =
          p.low + 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(p.high - p.low - 1));
      const Piece high = {p.first, p.last, at, p.high};
      p.high = at;
      list.push_back(high);
    }
  }
  std::shuffle(list.begin(), list.end(), random);
  std::vector<PackItem> items;
  for (const Piece& p : list) items.push_back({(p.high - p.low) * 16, p.first, p.last, 16});
  return items;
}

TEST(Pack, FindsTheOptimumOfCutRectangles) {
  std::mt19937 random(7);
  int optimal = 0, rounds = 0;
  for (const int pieces : {12, 20, 30, 40})
    for (int round = 0; round < 8; ++round, ++rounds) {
      const std::vector<PackItem> items = cut_rectangle(40, 1000, pieces, random);
      const PackResult p = pack(items);
      expect_valid(items, p);
      EXPECT_EQ(p.lower_bound, 16000);
      EXPECT_LE(p.bytes, 16000 * 115 / 100);
      optimal += p.optimal;
    }
  EXPECT_GE(optimal, rounds * 3 / 4);
  RecordProperty("optimal", optimal);
}

// Like the published sets of accelerator models: hundreds of buffers, most short, a few long, sizes
// over four decades.
std::vector<PackItem> like_a_network(int n, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<PackItem> items;
  for (int i = 0; i < n; ++i) {
    const int64_t bytes = int64_t{16} << random() % 12;
    const auto life = static_cast<int32_t>(random() % 10 == 0 ? random() % 60 : random() % 4);
    items.push_back(
        {bytes + static_cast<int64_t>(random() % static_cast<uint32_t>(bytes)), i, i + life, 16});
  }
  return items;
}

TEST(Pack, ThousandTensorsStayNearTheBound) {
  for (const uint32_t seed : {1u, 2u, 3u, 4u}) {
    const std::vector<PackItem> items = like_a_network(1000, seed);
    const PackResult p = pack(items);
    expect_valid(items, p);
    EXPECT_LE(p.bytes, p.lower_bound * 103 / 100);
    EXPECT_LE(p.steps, 2 * kPackBudget);
  }
}

TEST(Pack, IsDeterministicAndKeepsToItsBudget) {
  std::mt19937 random(99);
  const std::vector<PackItem> items = cut_rectangle(90, 4000, 120, random);
  const PackResult a = pack(items, 2'000'000), b = pack(items, 2'000'000);
  expect_valid(items, a);
  EXPECT_EQ(a.offset, b.offset);
  EXPECT_EQ(a.steps, b.steps);
  EXPECT_LE(a.steps, 3'000'000);
}

TEST(Pack, ATinyBudgetStillGivesAPlacement) {
  std::mt19937 random(5);
  const std::vector<PackItem> items = cut_rectangle(50, 300, 60, random);
  expect_valid(items, pack(items, 0));
}

TEST(Pack, IndependentStretchesShareTheirBytes) {
  std::vector<PackItem> items;
  for (int32_t k = 0; k < 50; ++k)
    for (int32_t i = 0; i < 4; ++i)
      items.push_back({16 * (1 + (k + i) % 5), 10 * k + i, 10 * k + i + 2, 16});
  const PackResult p = pack(items);
  expect_valid(items, p);
  EXPECT_TRUE(p.optimal);
}

// An operator in bands: its operand's rows are read for the last time one after the other, its
// result's are written so. One more row of the operand is read than of the result is written.
std::vector<PackItem> layers_in_bands(int layers, int rows, bool alternate) {
  std::vector<PackItem> items(static_cast<size_t>(layers) + 1);
  for (int k = 0; k <= layers; ++k)
    items[static_cast<size_t>(k)] = {16 * rows, rows * (k - 1), rows * (k + 1) - 1, 16};
  items.front().first = -1, items.back().last = rows * layers;
  for (int k = 0; k <= layers; ++k)
    for (int row = 0; row < rows; ++row) {
      const auto moment = [&](int layer, int r) {
        return rows * layer + (alternate && layer % 2 ? rows - 1 - r : r);
      };
      PackPiece p{16 * row, 16 * row + 16, k > 0 ? moment(k - 1, row) : -1, rows * layers};
      const int reader = alternate && k % 2 ? std::max(row - 1, 0) : std::min(row + 1, rows - 1);
      if (k < layers) p.last = moment(k, reader);
      items[static_cast<size_t>(k)].pieces.push_back(p);
    }
  return items;
}

TEST(Pack, AResultLiesOverDeadRowsOfItsOperand) {
  for (const int layers : {1, 2, 3, 8}) {
    const std::vector<PackItem> items = layers_in_bands(layers, 25, true);
    const PackResult p = pack(items);
    expect_valid(items, p);
    EXPECT_EQ(p.bytes, 16 * (25 + 2)) << layers << " layers";
    EXPECT_LE(p.lower_bound, p.bytes);
  }
  const std::vector<PackItem> down = layers_in_bands(4, 25, false);  // each before the one above
  const PackResult p = pack(down);
  expect_valid(down, p);
  EXPECT_EQ(p.bytes, 16 * (25 + 4 * 2));
}

TEST(Pack, PiecesOfRandomItemsNeverCollide) {
  std::mt19937 random(20261123);
  int less = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<PackItem> items(3 + random() % 8);
    for (PackItem& item : items) {
      const auto parts = static_cast<int64_t>(1 + random() % 6);
      item.alignment = 16;
      item.first = static_cast<int32_t>(random() % 12), item.last = item.first;
      for (int64_t k = 0; k < parts; ++k) {
        const int64_t size = 1 + static_cast<int64_t>(random() % 70);
        const auto first = static_cast<int32_t>(random() % 12);
        const PackPiece piece{item.bytes, item.bytes + size, first,
                              first + static_cast<int32_t>(random() % 6)};
        item.bytes += size;
        item.first = k ? std::min(item.first, piece.first) : piece.first,
        item.last = k ? std::max(item.last, piece.last) : piece.last;
        item.pieces.push_back(piece);
      }
      if (parts == 1) item.pieces.clear();
    }
    std::vector<PackItem> whole = items;
    for (PackItem& item : whole) item.pieces.clear();
    constexpr int64_t kBudget = 400'000;
    const PackResult p = pack(items, kBudget);
    expect_valid(items, p);
    const int64_t without = pack(whole, kBudget).bytes;
    EXPECT_LE(p.bytes, without);
    less += p.bytes < without;
  }
  EXPECT_GT(less, 50);
}

}  // namespace
}  // namespace deuteron
