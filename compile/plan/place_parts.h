// SPDX-License-Identifier: Apache-2.0
// The parts of place(): the things that live always are a knapsack of several memories; the others
// are walked through in time.
#pragma once
#include <limits>

#include "compile/plan/place.h"

namespace deuteron {

// a sum of costs: not possible
inline constexpr int64_t kNoPlace = std::numeric_limits<int64_t>::max() / 4;

inline int64_t rounded_up(int64_t bytes, int64_t unit) { return (bytes + unit - 1) / unit * unit; }

// place_always.cpp. Which of `items`, all of which live always, lie where: least in sum while
// memory m has room[m].
class Knapsack {
 public:
  // `most`: no room that is asked for is larger.
  Knapsack(std::vector<const PlaceItem*> items, std::vector<int64_t> most, int64_t alignment,
           int64_t* steps, int64_t budget);

  struct Answer {
    int64_t cost = kNoPlace, bound = kNoPlace;
    std::vector<int32_t> memory;  // by item
  };
  // No answer within `room` costs less.
  int64_t bound(const std::vector<int64_t>& room) const;
  int64_t steps_of_bound() const { return only_ >= 0 ? 1 : static_cast<int64_t>(choices_.size()); }
  Answer solve(const std::vector<int64_t>& room);

 private:
  struct Choice {
    int32_t item;
    int64_t bytes, gain;        // rounded up; of the best memory against home
    std::vector<int64_t> cost;  // by memory
    int32_t home;               // the cheapest endless memory; -1: none
  };
  void fill_table();
  int64_t gain_bound(size_t from, std::vector<int64_t> room) const;
  void descend(size_t at, int64_t cost, std::vector<int64_t>& room);
  Answer look_up(int64_t room) const;

  std::vector<Choice> choices_;  // most gain for a byte first
  std::vector<int64_t> most_;
  int64_t alignment_;
  int64_t* steps_;
  int64_t budget_;
  std::vector<int32_t> limited_;  // memories that end
  std::vector<double> share_;     // by memory: the most of an item's best gain that it can give
  int64_t home_cost_ = 0;         // of all at home; items without one count their cheapest memory
  size_t item_count_ = 0;
  int32_t only_ = -1;           // the one memory that ends, where a table answers for every room
  std::vector<int64_t> table_;  // by room in units: the least cost
  std::vector<std::vector<bool>> taken_;  // by choice, by room in units
  Answer best_;
  std::vector<int32_t> now_;
  bool is_cut_ = false;
};

// place_moments.cpp. Ways to place the things that do not live always, none of which is beaten in
// cost and in all heights by another.
struct Way {
  std::vector<int64_t> height;  // by memory: the largest sum alive at once
  int64_t cost = 0;
  std::vector<int32_t> memory;  // by item
};
struct Ways {
  std::vector<Way> found;
  int64_t dropped = kNoPlace;  // what the budget left out costs as much or more
};
// `beside` says what the things that live always cost at least in what the heights leave. Ways that
// cost `limit` or more with that are left out. What is dropped is counted with it too.
Ways ways_through(const std::vector<const PlaceItem*>& items, std::span<const int64_t> room,
                  int64_t alignment, const Knapsack& beside, int64_t limit, int64_t* steps,
                  int64_t budget);

}  // namespace deuteron
