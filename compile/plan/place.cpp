// SPDX-License-Identifier: Apache-2.0
// The placing as a whole: ways for what begins and ends to live, the knapsack for what lives
// always, and the packer's word on both.
#include "compile/plan/place.h"

#include <algorithm>
#include <numeric>

#include "compile/plan/place_parts.h"

namespace deuteron {
namespace {

// Packings of one placing, and the budget of each: they repeat the search for a memory plan on
// parts of it.
constexpr int kMostPackings = 200;
constexpr int64_t kPackingBudget = 2'000'000;

struct Layout {
  std::vector<int64_t> offset, height;  // by item; by memory
};

// Where the items lie that do not live always, in the memories that are given.
Layout lay_out(std::span<const PlaceItem> items, const std::vector<int32_t>& memory,
               size_t memories, int64_t alignment, int64_t* steps) {
  Layout l{std::vector<int64_t>(items.size(), 0), {}};
  for (size_t m = 0; m < memories; ++m) {
    std::vector<PackItem> here;
    std::vector<size_t> index;
    for (size_t i = 0; i < items.size(); ++i)
      if (!items[i].always && memory[i] == static_cast<int32_t>(m)) {
        here.push_back({items[i].bytes, items[i].first, items[i].last, alignment, items[i].pieces});
        index.push_back(i);
      }
    const PackResult packing = pack(here, kPackingBudget);
    *steps += packing.steps;
    for (size_t k = 0; k < index.size(); ++k) l.offset[index[k]] = packing.offset[k];
    l.height.push_back(rounded_up(packing.bytes, alignment));
  }
  return l;
}

Placing placed(std::span<const PlaceItem> items, std::vector<int32_t> memory, Layout layout,
               int64_t alignment) {
  Placing p;
  p.possible = true;
  p.memory = std::move(memory);
  p.offset = std::move(layout.offset);
  p.bytes = std::move(layout.height);
  for (size_t i = 0; i < items.size(); ++i) {
    const auto m = static_cast<size_t>(p.memory[i]);
    p.cost += items[i].cost[m];
    if (!items[i].always) continue;
    p.offset[i] = p.bytes[m];
    p.bytes[m] += rounded_up(items[i].bytes, alignment);
  }
  return p;
}

int64_t dearest(const PlaceItem& item) {
  return *std::max_element(item.cost.begin(), item.cost.end());
}
int64_t cheapest(const PlaceItem& item) {
  int64_t least = kNoPlace;
  for (const int64_t cost : item.cost)
    if (cost != kNotThere) least = std::min(least, cost);
  return least;
}

// Sums of what is alive, by memory and moment.
class Sums {
 public:
  Sums(std::span<const PlaceItem> items, size_t memories, int64_t alignment)
      : alignment_(alignment) {
    for (const PlaceItem& item : items) moments_ = std::max(moments_, item.last + 1);
    sums_.assign(memories, std::vector<int64_t>(static_cast<size_t>(moments_), 0));
  }
  int64_t bytes_at(const PlaceItem& item, int32_t moment) const {
    return item.pieces.empty() ? rounded_up(item.bytes, alignment_)
                               : bytes_alive_at(item.pieces, moment, alignment_);
  }
  bool has_room(const PlaceItem& item, size_t m, int64_t room) const {
    for (int32_t t = first(item); t <= last(item) && room != kEndless; ++t)
      if (sums_[m][static_cast<size_t>(t)] + bytes_at(item, t) > room) return false;
    return true;
  }
  void add(const PlaceItem& item, size_t m) {
    for (int32_t t = first(item); t <= last(item); ++t)
      sums_[m][static_cast<size_t>(t)] += bytes_at(item, t);
  }

 private:
  int32_t first(const PlaceItem& item) const { return item.always ? 0 : item.first; }
  int32_t last(const PlaceItem& item) const { return item.always ? moments_ - 1 : item.last; }
  int64_t alignment_;
  int32_t moments_ = 0;
  std::vector<std::vector<int64_t>> sums_;
};

std::vector<int32_t> choose_greedily(std::span<const PlaceItem> items,
                                     std::span<const int64_t> room, int64_t alignment) {
  std::vector<size_t> order(items.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto density = [&](size_t i) {
    return static_cast<double>(dearest(items[i]) - cheapest(items[i])) /
           static_cast<double>(std::max<int64_t>(items[i].bytes, 1));
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return density(a) > density(b); });
  Sums sums(items, room.size(), alignment);
  std::vector<int32_t> memory(items.size(), -1);
  for (const size_t i : order) {
    int32_t best = -1;
    for (size_t m = 0; m < room.size(); ++m) {
      if (items[i].cost[m] == kNotThere || !sums.has_room(items[i], m, room[m])) continue;
      if (best < 0 || items[i].cost[m] < items[i].cost[static_cast<size_t>(best)])
        best = static_cast<int32_t>(m);
    }
    if (best < 0) return {};
    memory[i] = best;
    sums.add(items[i], static_cast<size_t>(best));
  }
  return memory;
}

std::vector<int64_t> rest_of(std::span<const int64_t> room, const std::vector<int64_t>& height) {
  std::vector<int64_t> rest(room.begin(), room.end());
  for (size_t m = 0; m < rest.size(); ++m)
    if (rest[m] != kEndless) rest[m] -= height[m];
  return rest;
}

// Ways from the one that promises most, until none promises less than what is found.
class PlaceSearch {
 public:
  PlaceSearch(std::span<const PlaceItem> items, std::span<const int64_t> room, int64_t alignment,
              int64_t budget)
      : items_(items), room_(room.begin(), room.end()), alignment_(alignment), budget_(budget) {
    for (auto& r : room_)
      if (r != kEndless) r = r / alignment * alignment;
    for (size_t i = 0; i < items.size(); ++i) (items[i].always ? always_ : others_).push_back(i);
  }

  Placing run() {
    Knapsack knapsack(pointers(always_), room_, alignment_, &steps_, budget_);
    best_ = place_greedily(items_, room_, alignment_);
    int64_t limit = best_.possible ? best_.cost : kNoPlace;
    Ways ways =
        ways_through(pointers(others_), room_, alignment_, knapsack, limit, &steps_, budget_);
    bound_ = std::min(limit, ways.dropped);
    std::vector<std::pair<int64_t, size_t>> order;
    for (size_t w = 0; w < ways.found.size(); ++w)
      order.emplace_back(ways.found[w].cost + knapsack.bound(rest_of(room_, ways.found[w].height)),
                         w);
    std::stable_sort(order.begin(), order.end());
    int tries = 0;
    for (const auto& [promise, w] : order) {
      if (promise >= kNoPlace || (best_.possible && promise >= best_.cost)) break;
      if (tries++ == kMostPackings) {
        bound_ = std::min(bound_, promise);
        break;
      }
      try_way(ways.found[w], promise, knapsack);
    }
    if (best_.possible)
      best_.bound = std::min(bound_, best_.cost), best_.optimal = best_.bound == best_.cost;
    best_.steps = steps_;
    return best_;
  }

 private:
  std::vector<const PlaceItem*> pointers(const std::vector<size_t>& index) const {
    std::vector<const PlaceItem*> list;
    for (const size_t i : index) list.push_back(&items_[i]);
    return list;
  }

  void try_way(const Way& way, int64_t promise, Knapsack& knapsack) {
    std::vector<int32_t> memory(items_.size(), -1);
    for (size_t k = 0; k < others_.size(); ++k) memory[others_[k]] = way.memory[k];
    Layout layout = lay_out(items_, memory, room_.size(), alignment_, &steps_);
    const Knapsack::Answer answer = knapsack.solve(rest_of(room_, layout.height));
    bool is_as_high = true;  // the packing needs no more than the sums
    for (size_t m = 0; m < room_.size(); ++m)
      is_as_high = is_as_high && (room_[m] == kEndless || layout.height[m] <= way.height[m]);
    if (!is_as_high)
      bound_ = std::min(
          bound_, promise);  // of a way that was beaten by this one nobody knows how high it is
    else if (answer.bound < kNoPlace) bound_ = std::min(bound_, way.cost + answer.bound);
    if (answer.memory.size() != always_.size() || answer.cost >= kNoPlace) return;
    if (best_.possible && way.cost + answer.cost >= best_.cost) return;
    for (size_t k = 0; k < always_.size(); ++k) memory[always_[k]] = answer.memory[k];
    best_ = placed(items_, std::move(memory), std::move(layout), alignment_);
  }

  const std::span<const PlaceItem> items_;
  std::vector<int64_t> room_;
  const int64_t alignment_, budget_;
  std::vector<size_t> always_, others_;
  int64_t steps_ = 0, bound_ = kNoPlace;
  Placing best_;
};

}  // namespace

Placing place_greedily(std::span<const PlaceItem> items, std::span<const int64_t> room,
                       int64_t alignment) {
  constexpr int kTries = 16;
  std::vector<int64_t> aim(room.begin(), room.end());
  Placing result;
  for (int k = 0; k < kTries; ++k) {
    std::vector<int32_t> memory = choose_greedily(items, aim, alignment);
    if (memory.size() != items.size()) break;
    int64_t steps = 0;
    Layout layout = lay_out(items, memory, room.size(), alignment, &steps);
    result = placed(items, std::move(memory), std::move(layout), alignment);
    bool fits = true;
    // Where the packing needs more than the sums say, the sums aim lower.
    for (size_t m = 0; m < room.size(); ++m)
      if (room[m] != kEndless && result.bytes[m] > room[m])
        aim[m] -= result.bytes[m] - room[m], fits = false;
    if (fits) return result;
  }
  return {};
}

Placing place(std::span<const PlaceItem> items, std::span<const int64_t> room, int64_t alignment,
              int64_t budget) {
  return PlaceSearch(items, room, alignment, budget).run();
}

}  // namespace deuteron
