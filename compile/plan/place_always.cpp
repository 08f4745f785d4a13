// SPDX-License-Identifier: Apache-2.0
// The things that live always, of which each takes its bytes from one memory for good. With one
// memory that ends a table over its room is exact for every room at once; with several, branch and
// bound.
#include <algorithm>
#include <numeric>

#include "compile/plan/place_parts.h"

namespace deuteron {

Knapsack::Knapsack(std::vector<const PlaceItem*> items, std::vector<int64_t> most,
                   int64_t alignment, int64_t* steps, int64_t budget)
    : most_(std::move(most)),
      alignment_(alignment),
      steps_(steps),
      budget_(budget),
      share_(most_.size(), 0),
      item_count_(items.size()) {
  for (size_t m = 0; m < most_.size(); ++m)
    if (most_[m] != kEndless) limited_.push_back(static_cast<int32_t>(m));
  for (size_t i = 0; i < items.size(); ++i) {
    Choice c{static_cast<int32_t>(i), rounded_up(items[i]->bytes, alignment_), 0, items[i]->cost,
             -1};
    int64_t cheapest = kNoPlace, at_home = kNoPlace;
    for (size_t m = 0; m < most_.size(); ++m) {
      if (c.cost[m] == kNotThere) continue;
      cheapest = std::min(cheapest, c.cost[m]);
      if (most_[m] == kEndless && c.cost[m] < at_home)
        at_home = c.cost[m], c.home = static_cast<int32_t>(m);
    }
    c.gain = c.home < 0 ? 0 : at_home - cheapest;
    home_cost_ += c.home < 0 ? cheapest : at_home;
    choices_.push_back(std::move(c));
  }
  // Those that must go into a memory that ends come first, the largest of them before the others.
  std::stable_sort(choices_.begin(), choices_.end(), [](const Choice& a, const Choice& b) {
    if ((a.home < 0) != (b.home < 0)) return a.home < 0;
    if (a.home < 0) return a.bytes > b.bytes;
    return static_cast<double>(a.gain) * static_cast<double>(std::max<int64_t>(b.bytes, 1)) >
           static_cast<double>(b.gain) * static_cast<double>(std::max<int64_t>(a.bytes, 1));
  });
  for (const Choice& c : choices_)
    for (const int32_t m : limited_)
      if (c.home >= 0 && c.gain > 0 && c.cost[m] != kNotThere)
        share_[m] = std::max(share_[m], static_cast<double>(c.cost[c.home] - c.cost[m]) /
                                            static_cast<double>(c.gain));
  std::sort(limited_.begin(), limited_.end(), [&](int32_t a, int32_t b) {
    return share_[a] != share_[b] ? share_[a] > share_[b] : a < b;
  });
  constexpr int64_t kMostCells = 30'000'000;
  const bool all_have_homes =
      std::all_of(choices_.begin(), choices_.end(), [](const Choice& c) { return c.home >= 0; });
  if (limited_.size() != 1 || !all_have_homes) return;
  int64_t sum = 0;
  for (const Choice& c : choices_) sum += c.bytes;
  most_[limited_[0]] = std::min(most_[limited_[0]], sum);
  const int64_t units = most_[limited_[0]] / alignment_ + 1;
  if (units * static_cast<int64_t>(choices_.size() + 1) > std::min(kMostCells, budget_)) return;
  only_ = limited_[0];
  fill_table();
}

void Knapsack::fill_table() {
  const auto units = static_cast<size_t>(most_[only_] / alignment_) + 1;
  table_.assign(units, home_cost_);
  for (const Choice& c : choices_) {
    std::vector<bool>& taken = taken_.emplace_back(units, false);
    if (c.cost[only_] == kNotThere || c.cost[only_] >= c.cost[c.home]) continue;
    const int64_t gain = c.cost[c.home] - c.cost[only_];
    const auto size = static_cast<size_t>(c.bytes / alignment_);
    for (size_t u = units; u-- > size;)
      if (table_[u - size] - gain < table_[u]) table_[u] = table_[u - size] - gain, taken[u] = true;
    *steps_ += static_cast<int64_t>(units);
  }
}

Knapsack::Answer Knapsack::look_up(int64_t room) const {
  auto u = static_cast<size_t>(std::min(room, most_[only_]) / alignment_);
  Answer a{table_[u], table_[u], std::vector<int32_t>(item_count_)};
  for (size_t k = choices_.size(); k-- > 0;) {
    const Choice& c = choices_[k];
    a.memory[c.item] = taken_[k][u] ? only_ : c.home;
    if (taken_[k][u]) u -= static_cast<size_t>(c.bytes / alignment_);
  }
  return a;
}

// The most that choices from `from` on can gain: each in parts, the densest into the memory that
// gives most.
int64_t Knapsack::gain_bound(size_t from, std::vector<int64_t> room) const {
  double gain = 0;
  size_t m = 0;
  for (size_t k = from; k < choices_.size(); ++k) {
    const Choice& c = choices_[k];
    if (c.gain <= 0) continue;
    if (c.bytes == 0) {
      gain += static_cast<double>(c.gain);
      continue;
    }
    int64_t left = c.bytes;
    while (left > 0 && m < limited_.size()) {
      const int64_t part = std::min(left, room[limited_[m]]);
      gain += share_[limited_[m]] * static_cast<double>(c.gain) * static_cast<double>(part) /
              static_cast<double>(c.bytes);
      left -= part, room[limited_[m]] -= part;
      if (room[limited_[m]] == 0) ++m;
    }
    if (m == limited_.size()) break;
  }
  return static_cast<int64_t>(gain * (1 + 1e-12)) + 1;  // above what doubles may have lost
}

int64_t Knapsack::bound(const std::vector<int64_t>& room) const {
  for (const int32_t m : limited_)
    if (room[m] < 0) return kNoPlace;
  if (only_ >= 0)
    return table_[static_cast<size_t>(std::min(room[only_], most_[only_]) / alignment_)];
  return std::max<int64_t>(home_cost_ - gain_bound(0, room), 0);
}

void Knapsack::descend(size_t at, int64_t cost, std::vector<int64_t>& room) {
  *steps_ += static_cast<int64_t>(choices_.size() - at) + 1;
  if (*steps_ > budget_) is_cut_ = true;
  if (is_cut_) return;
  if (at == choices_.size()) {
    if (cost < best_.cost) best_.cost = cost, best_.memory = now_;
    return;
  }
  if (cost - gain_bound(at, room) >= best_.cost) return;
  const Choice& c = choices_[at];
  std::vector<int32_t> order;
  for (size_t m = 0; m < most_.size(); ++m)
    if (c.cost[m] != kNotThere && (static_cast<int32_t>(m) == c.home || most_[m] != kEndless))
      order.push_back(static_cast<int32_t>(m));
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return c.cost[a] < c.cost[b]; });
  int64_t counted = kNoPlace;  // in `cost`
  for (const int32_t m : order) counted = std::min(counted, c.cost[m]);
  if (c.home >= 0) counted = c.cost[c.home];
  for (const int32_t m : order) {
    if (m != c.home && room[m] < c.bytes) continue;
    if (m != c.home) room[m] -= c.bytes;
    now_[c.item] = m;
    descend(at + 1, cost - counted + c.cost[m], room);
    if (m != c.home) room[m] += c.bytes;
    if (m == c.home) break;  // what follows costs more and takes room
  }
}

Knapsack::Answer Knapsack::solve(const std::vector<int64_t>& room) {
  for (const int32_t m : limited_)
    if (room[m] < 0) return {};
  if (only_ >= 0) return look_up(room[only_]);
  best_ = {};
  is_cut_ = false;
  now_.assign(item_count_, -1);
  std::vector<int64_t> left = room;
  const int64_t least = bound(room);
  descend(0, home_cost_, left);
  best_.bound = is_cut_ ? std::min(least, best_.cost) : best_.cost;
  return best_;
}

}  // namespace deuteron
