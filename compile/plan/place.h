// SPDX-License-Identifier: Apache-2.0
// Gives things with lives a memory each, of several with a size and a cost, so that the sum of
// costs is least and each memory's packing fits. Knows nothing of graphs. Model, algorithm and what
// is proved: docs/memory-planner.md.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/allocate/pack.h"

namespace deuteron {

inline constexpr int64_t kNotThere = -1;  // a cost: it may not lie in that memory

struct PlaceItem {
  int64_t bytes = 0;
  int32_t first = 0, last = 0;         // alive in first..last, both included
  bool always = false;                 // alive all the time, beside whatever else lies there
  std::vector<PackPiece> pieces = {};  // as PackItem's; none for one that lives always
  std::vector<int64_t> cost = {};      // by memory: kNotThere, or 0 and more
};

struct Placing {
  bool possible = false;
  std::vector<int32_t> memory;  // by item
  std::vector<int64_t>
      offset;  // by item, in its memory; those that live always lie behind the others
  std::vector<int64_t> bytes;   // by memory: used
  int64_t cost = 0, bound = 0;  // no placing costs less than `bound`
  bool optimal = false;         // cost == bound
  int64_t steps = 0;            // of the budget
};

// `room`: by memory, in bytes; kEndless for one that takes everything. All places are multiples of
// `alignment`, a power of two.
inline constexpr int64_t kEndless = INT64_MAX;
inline constexpr int64_t kPlaceBudget = 40'000'000;
Placing place(std::span<const PlaceItem> items, std::span<const int64_t> room, int64_t alignment,
              int64_t budget = kPlaceBudget);

// What somebody would do by hand: the things that gain most for a byte first, each into the
// cheapest memory that still has room for it.
Placing place_greedily(std::span<const PlaceItem> items, std::span<const int64_t> room,
                       int64_t alignment);

}  // namespace deuteron
