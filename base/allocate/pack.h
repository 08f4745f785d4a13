// SPDX-License-Identifier: Apache-2.0
// Packs intervals of time into as little memory as possible: the two-dimensional problem "dynamic
// storage allocation", solved exactly where the budget of steps allows. Knows nothing of graphs.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/allocate/pack_piece.h"

namespace deuteron {

struct PackItem {
  int64_t bytes = 0;
  int32_t first = 0, last = 0;  // alive in first..last, both included
  int64_t alignment = 1;        // a power of two
  // None: all bytes are alive all the time. Else only these, and another item may lie over what is
  // not alive; two pieces may have bytes in common.
  std::vector<PackPiece> pieces = {};
};

// In units whose first byte is alive. Bytes that two pieces have in common count once.
int64_t bytes_alive_at(std::span<const PackPiece> pieces, int32_t moment, int64_t unit);

struct PackResult {
  std::vector<int64_t> offset;  // by item; 0 for items of no bytes
  int64_t bytes = 0;            // the largest end, rounded up to the smallest alignment
  int64_t lower_bound = 0;  // the most that is alive at once, or what the search proved beyond that
  int64_t largest_sum = 0;  // the most that is alive at once
  bool optimal = false;     // bytes == lower_bound
  int64_t steps = 0;        // of the budget
};

// A step is a look at one item or one moment; 4e7 take a few tenths of a second. The result depends
// on the items and the budget only.
inline constexpr int64_t kPackBudget = 40'000'000;
PackResult pack(std::span<const PackItem> items, int64_t budget = kPackBudget);

}  // namespace deuteron
