// SPDX-License-Identifier: Apache-2.0
// The things that begin and end to live, moment by moment. A state is where those lie that are
// alive now, how high each memory has been filled so far, and what that has cost. Of two states
// with the same things in the same memories the one that is as high and as dear or more is dropped.
// A network has few things alive at once, so that few states are left; a budget cuts where that is
// not so.
#include <algorithm>
#include <map>
#include <string>

#include "compile/plan/place_parts.h"

namespace deuteron {
namespace {

constexpr size_t kMostStates = 20'000;  // after a moment

struct State {
  std::vector<int64_t> height;  // by memory
  int64_t cost = 0;
  int64_t beside = 0;  // the least that the things that live always cost in what is left
  int32_t trail = -1;
};
struct Trail {
  int32_t before, item, memory;
};
using States = std::map<std::string, std::vector<State>>;  // by the memories of what is alive

class Walk {
 public:
  Walk(const std::vector<const PlaceItem*>& items, std::span<const int64_t> room, int64_t alignment,
       const Knapsack& beside, int64_t limit, int64_t* steps, int64_t budget)
      : items_(items),
        room_(room),
        alignment_(alignment),
        beside_(beside),
        limit_(limit),
        steps_(steps),
        budget_(budget) {
    for (size_t i = 0; i < items.size(); ++i) {
      begins_.emplace_back(items[i]->first, static_cast<int32_t>(i));
      end_ = std::max(end_, items[i]->last + 1);
      int64_t cheapest = kNoPlace;
      for (size_t m = 0; m < room.size(); ++m)
        if (items[i]->cost[m] != kNotThere) cheapest = std::min(cheapest, items[i]->cost[m]);
      cheapest_.push_back(cheapest);
      still_to_come_ += cheapest;
    }
    std::stable_sort(begins_.begin(), begins_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
  }

  Ways run() {
    States states;
    const std::vector<int64_t> empty(room_.size(), 0);
    states[""].push_back({empty, 0, least_beside(empty), -1});
    size_t next = 0;
    for (int32_t moment = 0; moment < end_; ++moment) {
      states = without_ended(states, moment);
      bool changed = std::any_of(alive_.begin(), alive_.end(),
                                 [&](int32_t i) { return !items_[i]->pieces.empty(); });
      for (; next < begins_.size() && begins_[next].first == moment; ++next, changed = true)
        states = with(states, begins_[next].second);
      if (changed) states = measured(states, moment);
    }
    Ways ways;
    ways.dropped = dropped_;
    for (const auto& [key, list] : without_ended(states, end_))
      for (const State& s : list) ways.found.push_back(way_of(s));
    return ways;
  }

 private:
  Way way_of(const State& s) const {
    Way way{s.height, s.cost, std::vector<int32_t>(items_.size(), -1)};
    for (int32_t t = s.trail; t >= 0; t = trails_[t].before)
      way.memory[trails_[t].item] = trails_[t].memory;
    return way;
  }

  int64_t least_beside(const std::vector<int64_t>& height) {
    std::vector<int64_t> rest(room_.begin(), room_.end());
    for (size_t m = 0; m < rest.size(); ++m)
      if (rest[m] != kEndless) rest[m] -= height[m];
    *steps_ += beside_.steps_of_bound();
    return beside_.bound(rest);
  }

  // No better in anything.
  static bool is_beaten(const State& s, const State& by) {
    if (by.cost > s.cost) return false;
    for (size_t m = 0; m < s.height.size(); ++m)
      if (by.height[m] > s.height[m]) return false;
    return true;
  }
  void add(std::vector<State>& list, State s) {
    *steps_ += static_cast<int64_t>(list.size()) + 1;
    for (const State& other : list)
      if (is_beaten(s, other)) return;
    std::erase_if(list, [&](const State& other) { return is_beaten(other, s); });
    list.push_back(std::move(s));
  }

  States without_ended(const States& states, int32_t moment) {
    std::vector<size_t> stay;
    std::vector<int32_t> alive;
    for (size_t k = 0; k < alive_.size(); ++k)
      if (items_[alive_[k]]->last >= moment) stay.push_back(k), alive.push_back(alive_[k]);
    if (stay.size() == alive_.size()) return states;
    alive_ = std::move(alive);
    States left;
    for (const auto& [key, list] : states) {
      std::string shorter;
      for (const size_t k : stay) shorter += key[k];
      std::vector<State>& into = left[shorter];
      for (const State& s : list) add(into, s);
    }
    return left;
  }

  States with(const States& states, int32_t item) {
    alive_.push_back(item);
    still_to_come_ -= cheapest_[item];
    States more;
    for (const auto& [key, list] : states)
      for (size_t m = 0; m < room_.size(); ++m) {
        const int64_t cost = items_[item]->cost[m];
        if (cost == kNotThere) continue;
        std::vector<State> into;
        for (const State& s : list) {
          if (s.cost + cost + still_to_come_ + s.beside >= limit_) continue;
          trails_.push_back({s.trail, item, static_cast<int32_t>(m)});
          into.push_back(
              {s.height, s.cost + cost, s.beside, static_cast<int32_t>(trails_.size()) - 1});
        }
        *steps_ += static_cast<int64_t>(list.size());
        if (!into.empty()) more.emplace(key + static_cast<char>('0' + m), std::move(into));
      }
    cut(more);
    return more;
  }

  // With the heights that this moment needs, without those that have no room.
  States measured(const States& states, int32_t moment) {
    std::vector<int64_t> bytes;
    for (const int32_t i : alive_)
      bytes.push_back(items_[i]->pieces.empty()
                          ? rounded_up(items_[i]->bytes, alignment_)
                          : bytes_alive_at(items_[i]->pieces, moment, alignment_));
    States fit;
    for (const auto& [key, list] : states) {
      std::vector<int64_t> sum(room_.size(), 0);
      for (size_t k = 0; k < key.size(); ++k) sum[static_cast<size_t>(key[k] - '0')] += bytes[k];
      bool has_room = true;
      for (size_t m = 0; m < room_.size(); ++m) {
        if (room_[m] == kEndless) sum[m] = 0;
        has_room = has_room && sum[m] <= room_[m];
      }
      if (!has_room) continue;
      std::vector<State>& into = fit[key];
      for (State s : list) {
        bool is_higher = false;
        for (size_t m = 0; m < room_.size(); ++m)
          if (sum[m] > s.height[m]) s.height[m] = sum[m], is_higher = true;
        if (is_higher) s.beside = least_beside(s.height);
        if (s.cost + still_to_come_ + s.beside < limit_) add(into, std::move(s));
      }
    }
    return fit;
  }

  // Those that promise most stay.
  void cut(States& states) {
    std::vector<int64_t> costs;
    for (const auto& [key, list] : states)
      for (const State& s : list) costs.push_back(s.cost + s.beside);
    const size_t most = *steps_ > budget_ ? 64 : kMostStates;
    if (costs.size() <= most) return;
    std::nth_element(costs.begin(), costs.begin() + static_cast<std::ptrdiff_t>(most), costs.end());
    const int64_t dearest = costs[most];
    dropped_ = std::min(dropped_, dearest + still_to_come_);
    auto equal = most - static_cast<size_t>(std::count_if(costs.begin(), costs.end(),
                                                          [&](int64_t c) { return c < dearest; }));
    const auto is_cut = [&](const State& s) {
      const int64_t promise = s.cost + s.beside;
      return promise > dearest || (promise == dearest && (equal == 0 || equal-- == 0));
    };
    for (auto& [key, list] : states) std::erase_if(list, is_cut);
    std::erase_if(states, [](const auto& entry) { return entry.second.empty(); });
  }

  const std::vector<const PlaceItem*>& items_;
  const std::span<const int64_t> room_;
  const int64_t alignment_;
  const Knapsack& beside_;
  const int64_t limit_;
  int64_t* steps_;
  const int64_t budget_;
  std::vector<std::pair<int32_t, int32_t>> begins_;  // moment, item
  std::vector<int64_t> cheapest_;
  std::vector<int32_t> alive_;
  std::vector<Trail> trails_;
  int64_t still_to_come_ = 0, dropped_ = kNoPlace;
  int32_t end_ = 0;
};

}  // namespace

Ways ways_through(const std::vector<const PlaceItem*>& items, std::span<const int64_t> room,
                  int64_t alignment, const Knapsack& beside, int64_t limit, int64_t* steps,
                  int64_t budget) {
  return Walk(items, room, alignment, beside, limit, steps, budget).run();
}

}  // namespace deuteron
