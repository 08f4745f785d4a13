// SPDX-License-Identifier: Apache-2.0
// Internal to the packer: one independent stretch of time, with everything rounded to whole units
// and time cut down to the moments that matter.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace deuteron {

// `a` is a power of two.
inline int64_t align_up(int64_t x, int64_t a) { return (x + a - 1) & -a; }

struct Block {
  int64_t size = 0;             // units, at least 1
  int64_t alignment = 1;        // units, a power of two
  int32_t left = 0, right = 0;  // sections, both included
};

// Where a block may lie beside another: at most at the other's offset less `below`, or at least at
// it and `above`, in units. Of two blocks that are alive as a whole these are their sizes.
struct Meeting {
  int32_t other;
  int64_t below, above;
};

struct Blocks {
  std::vector<Block> block;  // by left
  int32_t sections = 0;  // maximal sets of blocks alive at once; two blocks meet in time exactly
                         // if they share a section
  // By block: the others of which bytes are alive while bytes of it are. Of blocks that are all
  // alive as a whole there are no lists, which would take the square of their number: each meets
  // those that share a section.
  std::vector<std::vector<Meeting>> listed;
  std::vector<int32_t> ends_later;  // by block: the last before it that ends after it, -1: none

  bool meet(int32_t a, int32_t b) const {
    return block[a].left <= block[b].right && block[b].left <= block[a].right;
  }
  // f(Meeting) for each, in any order.
  template <class F>
  void for_each_meeting(int32_t i, F f) const {
    if (!listed.empty()) {
      for (const Meeting& m : listed[i]) f(m);
      return;
    }
    const auto n = static_cast<int32_t>(block.size());
    const auto whole = [&](int32_t k) { f(Meeting{k, block[i].size, block[k].size}); };
    for (int32_t k = i + 1; k < n && block[k].left <= block[i].right; ++k) whole(k);
    for (int32_t k = i - 1; k >= 0;) {
      const bool is_alive = block[k].right >= block[i].left;
      if (is_alive) whole(k);
      k = is_alive ? k - 1 : ends_later[k];
    }
  }
};

struct PackedBlocks {
  std::vector<int64_t> offset;  // by block
  int64_t height = 0;
};

// pack_greedy.cpp. Each block at the lowest free place, in the given order.
PackedBlocks first_fit(const Blocks& blocks, const std::vector<int32_t>& order, int64_t* steps);
// The best of several orders, then of orders in which the blocks that reach the top come earlier.
// Ends at `good_enough` or when the budget is spent.
PackedBlocks pack_greedily(const Blocks& blocks, int64_t good_enough, int64_t budget,
                           int64_t* steps);

// pack_search.cpp, for blocks that are alive as a whole. Is there a placement of at most `limit`
// units? `above`: when there is none, the least height that is not excluded.
enum class Answer : uint8_t { found, none, budget_spent };
Answer search(const Blocks& blocks, int64_t limit, int64_t budget, int64_t* steps,
              PackedBlocks* placement, int64_t* above);

}  // namespace deuteron
