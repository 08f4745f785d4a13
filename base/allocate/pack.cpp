// SPDX-License-Identifier: Apache-2.0
// The packer's way: cut into independent stretches of time, reduce each to what matters, try
// heuristics, then search for less with a proof. Items that are alive in pieces may lie over one
// another; for them there are the heuristics only, beside a packing that takes them whole.
#include "base/allocate/pack.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "base/allocate/pack_blocks.h"
#include "base/check.h"

namespace deuteron {
namespace {

constexpr int64_t kGreedyShare = 4;   // the heuristics get this part of the budget: a quarter
constexpr int64_t kPiecesShare = 16;  // those for items in pieces: a sixteenth
// blocks; the search is recursive and would not finish anyway
constexpr size_t kSearchLimit = 3000;

int64_t smallest_alignment(std::span<const PackItem> items) {
  int64_t unit = std::numeric_limits<int64_t>::max();
  for (const PackItem& item : items) {
    DEUTERON_CHECK(item.bytes >= 0 && item.first <= item.last && item.alignment > 0 &&
                   (item.alignment & (item.alignment - 1)) == 0);
    unit = std::min(unit, item.alignment);
  }
  return unit;
}

struct Stretch {
  std::vector<int32_t> items;
  Blocks blocks;
};

// Stretches of time that share no living item.
std::vector<Stretch> stretches(std::span<const PackItem> items) {
  std::vector<int32_t> order;
  for (size_t i = 0; i < items.size(); ++i)
    if (items[i].bytes > 0) order.push_back(static_cast<int32_t>(i));
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return items[a].first < items[b].first; });
  std::vector<Stretch> list;
  int64_t reach = std::numeric_limits<int64_t>::min();
  for (const int32_t i : order) {
    if (items[i].first > reach) list.emplace_back();
    list.back().items.push_back(i);
    reach = std::max<int64_t>(reach, items[i].last);
  }
  return list;
}

// `whole` holds the one of an item that has no list of them: this is asked of every two items that
// are alive together.
std::span<const PackPiece> pieces_of(const PackItem& item, PackPiece& whole) {
  if (!item.pieces.empty()) return item.pieces;
  whole = {0, item.bytes, item.first, item.last};
  return {&whole, 1};
}

// How far apart the offsets of two items must be so that no byte of a piece lies on a byte of
// another that is alive with it. Nothing when no two are alive together.
std::optional<Meeting> meeting_of(const PackItem& item, const PackItem& other, int32_t index,
                                  int64_t unit) {
  std::optional<Meeting> m;
  PackPiece one, another;
  for (const PackPiece& a : pieces_of(item, one))
    for (const PackPiece& b : pieces_of(other, another)) {
      if (a.first > b.last || b.first > a.last) continue;
      const int64_t below = align_up(a.end - b.begin, unit) / unit,
                    above = align_up(b.end - a.begin, unit) / unit;
      if (!m) m = {index, below, above};
      m->below = std::max(m->below, below), m->above = std::max(m->above, above);
    }
  return m;
}

void list_meetings(Stretch& stretch, std::span<const PackItem> items, int64_t unit) {
  const std::vector<int32_t>& ids = stretch.items;
  Blocks& b = stretch.blocks;
  const auto n = static_cast<int32_t>(ids.size());
  b.listed.resize(n);
  for (int32_t i = 0; i < n; ++i)
    for (int32_t k = i + 1; k < n && b.block[k].left <= b.block[i].right; ++k) {
      const std::optional<Meeting> m = meeting_of(items[ids[i]], items[ids[k]], k, unit);
      if (m) b.listed[i].push_back(*m), b.listed[k].push_back({i, m->above, m->below});
    }
}

void find_later_ends(Blocks& b) {
  const auto n = static_cast<int32_t>(b.block.size());
  for (int32_t i = 0; i < n; ++i) {
    int32_t k = i - 1;
    while (k >= 0 && b.block[k].right <= b.block[i].right) k = b.ends_later[k];
    b.ends_later.push_back(k);
  }
}

// Sections are the moments just before something ends while something new has begun since the last
// such moment: every set of items that are alive together is alive in one of them.
void cut_into_sections(Stretch& stretch, std::span<const PackItem> items, int64_t unit) {
  const std::vector<int32_t>& ids = stretch.items;  // by first
  std::vector<int32_t> ends;
  for (const int32_t i : ids) ends.push_back(items[i].last);
  std::sort(ends.begin(), ends.end());
  std::vector<int32_t> moments;
  size_t begun = 0, seen = 0;
  for (const int32_t end : ends) {
    while (begun < ids.size() && items[ids[begun]].first <= end) ++begun;
    if (begun > seen) moments.push_back(end);
    seen = begun;
  }
  Blocks& b = stretch.blocks;
  b.sections = static_cast<int32_t>(moments.size());
  for (const int32_t i : ids) {
    Block block;
    block.size = align_up(items[i].bytes, unit) / unit;
    block.alignment = items[i].alignment / unit;
    block.left = static_cast<int32_t>(
        std::lower_bound(moments.begin(), moments.end(), items[i].first) - moments.begin());
    block.right =
        static_cast<int32_t>(std::upper_bound(moments.begin(), moments.end(), items[i].last) -
                             moments.begin()) -
        1;
    DEUTERON_CHECK(block.left <= block.right);
    b.block.push_back(block);
  }
  const bool in_pieces =
      std::any_of(ids.begin(), ids.end(), [&](int32_t i) { return !items[i].pieces.empty(); });
  if (in_pieces) list_meetings(stretch, items, unit);
  else find_later_ends(b);
}

int64_t largest_sum(const Blocks& b) {
  std::vector<int64_t> sum(b.sections + 1, 0);
  for (const Block& k : b.block) sum[k.left] += k.size, sum[k.right + 1] -= k.size;
  int64_t most = 0, now = 0;
  for (const int64_t change : sum) most = std::max(most, now += change);
  return most;
}

// Lowers best.height and raises *bound until they meet or the budget is spent. Nobody needs less
// than `enough`.
void improve(const Blocks& b, int64_t enough, int64_t end, int64_t* steps, PackedBlocks* best,
             int64_t* bound) {
  for (bool at_bound = true; best->height > std::max(*bound, enough); at_bound = !at_bound) {
    const int64_t target =
        std::max(enough, at_bound ? *bound : *bound + (best->height - 1 - *bound) / 2);
    // Half of what is left: a target that is too hard must not starve the next, easier one.
    PackedBlocks found;
    int64_t above = 0;
    const int64_t left = end - *steps;
    if (left < static_cast<int64_t>(b.block.size()) * 8) return;
    switch (search(b, target, left / 2, steps, &found, &above)) {
      case Answer::found:
        *best = std::move(found);
        break;
      case Answer::none:
        DEUTERON_CHECK(above > target && above <= best->height, std::to_string(above));
        *bound = std::max(*bound, above);
        break;
      case Answer::budget_spent:
        break;
    }
  }
}

// Every item as a whole.
PackResult pack_whole(std::span<const PackItem> items, int64_t budget) {
  PackResult result;
  result.offset.assign(items.size(), 0);
  const int64_t unit = smallest_alignment(items);
  std::vector<Stretch> list = stretches(items);
  std::vector<PackedBlocks> best(list.size());
  std::vector<int64_t> bound(list.size());
  int64_t lower = 0, height = 0;
  for (size_t k = 0; k < list.size(); ++k) {
    cut_into_sections(list[k], items, unit);
    lower = std::max(lower, bound[k] = largest_sum(list[k].blocks));
  }
  result.largest_sum = list.empty() ? 0 : lower * unit;
  const auto shares = static_cast<int64_t>(list.size()) + 1;
  for (size_t k = 0; k < list.size();
       ++k) {  // a stretch need not be lower than the bound of another
    best[k] = pack_greedily(list[k].blocks, lower, budget / kGreedyShare / shares, &result.steps);
    height = std::max(height, best[k].height);
  }
  // The highest stretch first: what it needs is good enough for the others.
  std::vector<size_t> order(list.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return best[a].height > best[b].height; });
  for (const size_t k : order) {
    if (best[k].height <= lower || list[k].blocks.block.size() > kSearchLimit) continue;
    improve(list[k].blocks, lower, result.steps + (budget - result.steps) / 2, &result.steps,
            &best[k], &bound[k]);
    lower = std::max(lower, bound[k]);
  }
  height = 0;
  for (size_t k = 0; k < list.size(); ++k) {
    height = std::max(height, best[k].height);
    for (size_t i = 0; i < list[k].items.size(); ++i)
      result.offset[list[k].items[i]] = best[k].offset[i] * unit;
  }
  result.bytes = list.empty() ? 0 : height * unit;
  result.lower_bound = list.empty() ? 0 : lower * unit;
  result.optimal = height == lower;
  return result;
}

// The most units that are alive at once. Items begin at whole units, so no unit's first byte can be
// alive in two of them.
int64_t most_alive(std::span<const PackItem> items, int64_t unit) {
  std::map<int32_t, int64_t> change;
  for (const PackItem& item : items) {
    if (item.pieces.empty())
      change[item.first] += align_up(item.bytes, unit),
          change[item.last + 1] -= align_up(item.bytes, unit);
    else
      for (int32_t m = item.first; m <= item.last; ++m) {
        const int64_t bytes = bytes_alive_at(item.pieces, m, unit);
        change[m] += bytes, change[m + 1] -= bytes;
      }
  }
  int64_t most = 0, now = 0;
  for (const auto& [moment, bytes] : change) most = std::max(most, now += bytes);
  return most;
}

// Items over what is dead of others: the heuristics, which the gaps between blocks are all the same
// to.
PackResult pack_in_pieces(std::span<const PackItem> items, int64_t unit, int64_t budget) {
  PackResult result;
  result.offset.assign(items.size(), 0);
  result.lower_bound = result.largest_sum = most_alive(items, unit);
  std::vector<Stretch> list = stretches(items);
  for (Stretch& stretch : list) {
    cut_into_sections(stretch, items, unit);
    const PackedBlocks best =
        pack_greedily(stretch.blocks, result.lower_bound / unit,
                      budget / kPiecesShare / static_cast<int64_t>(list.size()), &result.steps);
    result.bytes = std::max(result.bytes, best.height * unit);
    for (size_t i = 0; i < stretch.items.size(); ++i)
      result.offset[stretch.items[i]] = best.offset[i] * unit;
  }
  result.optimal = result.bytes == result.lower_bound;
  return result;
}

}  // namespace

int64_t bytes_alive_at(std::span<const PackPiece> pieces, int32_t moment, int64_t unit) {
  std::vector<std::pair<int64_t, int64_t>> alive;
  for (const PackPiece& p : pieces)
    if (p.first <= moment && moment <= p.last) alive.emplace_back(p.begin, p.end);
  std::sort(alive.begin(), alive.end());
  int64_t bytes = 0, reach = 0;
  for (const auto& [begin, end] : alive) {
    bytes += std::max<int64_t>(0, align_up(end, unit) - align_up(std::max(begin, reach), unit));
    reach = std::max(reach, end);
  }
  return bytes;
}

PackResult pack(std::span<const PackItem> items, int64_t budget) {
  const bool in_pieces = std::any_of(items.begin(), items.end(),
                                     [](const PackItem& item) { return !item.pieces.empty(); });
  if (!in_pieces) return pack_whole(items, budget);
  std::vector<PackItem> whole(items.begin(), items.end());
  for (PackItem& item : whole) item.pieces.clear();
  PackResult best = pack_whole(whole, budget);
  PackResult over = pack_in_pieces(items, smallest_alignment(items), budget);
  if (over.bytes < best.bytes)
    std::swap(best.offset, over.offset), std::swap(best.bytes, over.bytes);
  best.lower_bound = best.largest_sum = over.largest_sum;
  best.optimal = best.bytes == best.lower_bound;
  best.steps += over.steps;
  return best;
}

}  // namespace deuteron
