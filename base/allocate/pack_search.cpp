// SPDX-License-Identifier: Apache-2.0
// Branch and bound of the packer. Blocks are placed from the bottom up: in the order of their
// offsets, each resting on what lies below. Ideas (facts only) from "MiniMalloc: A Lightweight
// Memory Allocator for Hardware-Accelerated Machine Learning", ASPLOS 2023, sections 4 and 5.
//
// Of all placements within the limit, one has the least sum of offsets. No cut below removes that
// one:
//   - each block rests on another or on the ground, so it can be placed at the lowest place above
//   what is placed already;
//   - placed in the order of (offset, index), so every set of places is met once;
//   - a block that would fit wholly below the next one's offset lies there, else the sum could be
//   smaller;
//   - equal blocks keep the order of their indices.
#include <algorithm>
#include <limits>

#include "base/allocate/pack_blocks.h"

namespace deuteron {
namespace {

class Search {
 public:
  Search(const Blocks& blocks, int64_t limit, int64_t end, int64_t* steps)
      : b_(blocks), limit_(limit), end_(end), steps_(*steps) {
    const size_t n = b_.block.size();
    offset_.assign(n, -1);
    lowest_.assign(n, 0);
    twin_.assign(n, -1);
    floor_.assign(b_.sections, 0);
    left_.assign(b_.sections, 0);
    base_.assign(b_.sections, 0);
    for (size_t i = 0; i < n; ++i) {
      for (int32_t s = b_.block[i].left; s <= b_.block[i].right; ++s) left_[s] += b_.block[i].size;
      for (size_t k = i; k-- > 0 && twin_[i] < 0;) {
        const Block &x = b_.block[i], &y = b_.block[k];
        if (x.size == y.size && x.left == y.left && x.right == y.right &&
            x.alignment == y.alignment)
          twin_[i] = static_cast<int32_t>(k);
      }
    }
  }

  Answer run(PackedBlocks* placement, int64_t* above) {
    std::vector<int32_t> all(b_.block.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int32_t>(i);
    // Candidates are tried in this order: long-lived first, then large.
    std::stable_sort(all.begin(), all.end(), [&](int32_t x, int32_t y) {
      const Block &a = b_.block[x], &c = b_.block[y];
      const int64_t la = a.right - a.left, lc = c.right - c.left;
      return la != lc ? la > lc : a.size > c.size;
    });
    const bool found = place(all, 0, -1);
    if (found) {
      placement->offset = offset_;
      placement->height = 0;
      for (size_t i = 0; i < offset_.size(); ++i)
        placement->height = std::max(placement->height, offset_[i] + b_.block[i].size);
      return Answer::found;
    }
    if (spent_) return Answer::budget_spent;
    *above = above_;
    return Answer::none;
  }

 private:
  // Places all of `open`, nothing lower than (last_offset, last_index) in the canonical order.
  bool place(const std::vector<int32_t>& open, int64_t last_offset, int32_t last_index) {
    if (open.empty()) return true;
    steps_ += static_cast<int64_t>(open.size());
    if (steps_ > end_) return spent_ = true, false;
    if (exceeds(open, last_offset)) return false;

    const std::vector<std::vector<int32_t>> parts = split(open);
    if (parts.size() > 1) {  // independent: one that fails cannot be helped by another
      for (size_t k = 0; k < parts.size(); ++k) {
        if (place(parts[k], last_offset, last_index)) continue;
        for (size_t done = 0; done < k; ++done) lift(parts[done]);
        return false;
      }
      return true;
    }

    std::vector<int32_t> rest;
    std::vector<std::pair<int32_t, int64_t>> raised;
    for (const auto& [at, k] : next_places(open, last_offset, last_index)) {
      const int32_t i = open[k];
      const Block& block = b_.block[i];
      rest.clear();
      for (const int32_t other : open)
        if (other != i) rest.push_back(other);
      std::vector<int64_t> floors(floor_.begin() + block.left, floor_.begin() + block.right + 1);
      raised.clear();
      const int64_t end = at + block.size;
      offset_[i] = at;
      for (int32_t s = block.left; s <= block.right; ++s) floor_[s] = end, left_[s] -= block.size;
      for (const int32_t other : rest) {
        const int64_t place_above = align_up(end, b_.block[other].alignment);
        if (lowest_[other] >= place_above || !b_.meet(i, other)) continue;
        raised.emplace_back(other, lowest_[other]);
        lowest_[other] = place_above;
      }
      steps_ += static_cast<int64_t>(floors.size() + rest.size());
      const bool found = place(rest, at, i);
      if (found) return true;
      for (const auto& [other, old] : raised) lowest_[other] = old;
      std::copy(floors.begin(), floors.end(), floor_.begin() + block.left);
      for (int32_t s = block.left; s <= block.right; ++s) left_[s] += block.size;
      offset_[i] = -1;
      if (spent_) return false;
    }
    return false;
  }

  // Where a block may be placed next, and its index in `open`: lowest place first.
  std::vector<std::pair<int64_t, int32_t>> next_places(const std::vector<int32_t>& open,
                                                       int64_t last_offset,
                                                       int32_t last_index) const {
    // the next block begins below the lowest possible end
    int64_t ceiling = std::numeric_limits<int64_t>::max();
    for (const int32_t i : open) ceiling = std::min(ceiling, lowest_[i] + b_.block[i].size);
    std::vector<std::pair<int64_t, int32_t>> places;
    for (size_t k = 0; k < open.size(); ++k) {
      const int32_t i = open[k];
      const int64_t at = lowest_[i];
      if (at >= ceiling || at < last_offset || (at == last_offset && i < last_index)) continue;
      if (twin_[i] >= 0 && offset_[twin_[i]] < 0) continue;
      places.emplace_back(at, static_cast<int32_t>(k));
    }
    std::sort(places.begin(), places.end());
    return places;
  }

  // In each section, what is left lies above the lowest place that any of it can have.
  bool exceeds(const std::vector<int32_t>& open, int64_t last_offset) {
    int32_t left = b_.sections, right = -1;
    for (const int32_t i : open)
      left = std::min(left, b_.block[i].left), right = std::max(right, b_.block[i].right);
    std::fill(base_.begin() + left, base_.begin() + right + 1, std::numeric_limits<int64_t>::max());
    int64_t worst = 0;
    for (const int32_t i : open) {
      const Block& block = b_.block[i];
      const int64_t at = std::max(lowest_[i], align_up(last_offset, block.alignment));
      for (int32_t s = block.left; s <= block.right; ++s) base_[s] = std::min(base_[s], at);
      steps_ += block.right - block.left + 1;
    }
    for (int32_t s = left; s <= right; ++s)
      if (left_[s] > 0) worst = std::max(worst, base_[s] + left_[s]);
    if (worst <= limit_) return false;
    above_ = std::min(above_, worst);
    return true;
  }

  // Groups of open blocks that do not meet one another, in time order; blocks keep their order
  // within a group.
  std::vector<std::vector<int32_t>> split(const std::vector<int32_t>& open) {
    std::vector<std::pair<int32_t, int32_t>> spans;
    for (const int32_t i : open) spans.emplace_back(b_.block[i].left, b_.block[i].right);
    std::sort(spans.begin(), spans.end());
    std::vector<int32_t> starts;
    int32_t reach = -1;
    for (const auto& [left, right] : spans) {
      if (left > reach) starts.push_back(left);
      reach = std::max(reach, right);
    }
    if (starts.size() == 1) return {};
    std::vector<std::vector<int32_t>> parts(starts.size());
    for (const int32_t i : open)
      parts[std::upper_bound(starts.begin(), starts.end(), b_.block[i].left) - starts.begin() - 1]
          .push_back(i);
    return parts;
  }

  // Takes blocks away again that a part has placed: floors are recomputed from what stays.
  void lift(const std::vector<int32_t>& blocks) {
    for (const int32_t i : blocks) {
      offset_[i] = -1;
      for (int32_t s = b_.block[i].left; s <= b_.block[i].right; ++s)
        left_[s] += b_.block[i].size, floor_[s] = 0;
    }
    for (size_t k = 0; k < offset_.size(); ++k)
      if (offset_[k] >= 0)
        for (int32_t s = b_.block[k].left; s <= b_.block[k].right; ++s)
          floor_[s] = std::max(floor_[s], offset_[k] + b_.block[k].size);
    for (const int32_t i : blocks) {
      int64_t at = 0;
      for (int32_t s = b_.block[i].left; s <= b_.block[i].right; ++s) at = std::max(at, floor_[s]);
      lowest_[i] = align_up(at, b_.block[i].alignment);
    }
    steps_ += static_cast<int64_t>(offset_.size() + blocks.size());
  }

  const Blocks& b_;
  const int64_t limit_, end_;
  int64_t& steps_;
  bool spent_ = false;
  int64_t above_ = std::numeric_limits<int64_t>::max();
  std::vector<int64_t> offset_, lowest_;  // by block: where it is (-1: open), where it could be
  std::vector<int32_t> twin_;             // an equal block with a smaller index, -1: none
  std::vector<int64_t> floor_, left_,
      base_;  // by section: filled up to, units that are still to be placed
};

}  // namespace

Answer search(const Blocks& blocks, int64_t limit, int64_t budget, int64_t* steps,
              PackedBlocks* placement, int64_t* above) {
  return Search(blocks, limit, *steps + budget, steps).run(placement, above);
}

}  // namespace deuteron
