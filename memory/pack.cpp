// The packer's way: cut into independent stretches of time, reduce each to what matters, try heuristics, then search for less with a proof.
#include "memory/pack.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/check.h"
#include "memory/pack_blocks.h"

namespace deuteron {
namespace {

constexpr int64_t kGreedyShare = 4;    // the heuristics get this part of the budget: a quarter
constexpr size_t kSearchLimit = 3000;  // blocks; the search is recursive and would not finish anyway

int64_t round_up(int64_t x, int64_t unit) { return (x + unit - 1) / unit * unit; }

struct Stretch {
  std::vector<int32_t> items;
  Blocks blocks;
};

// Stretches of time that share no living item.
std::vector<Stretch> stretches(std::span<const PackItem> items) {
  std::vector<int32_t> order;
  for (size_t i = 0; i < items.size(); ++i)
    if (items[i].bytes > 0) order.push_back(static_cast<int32_t>(i));
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return items[a].first < items[b].first; });
  std::vector<Stretch> list;
  int64_t reach = std::numeric_limits<int64_t>::min();
  for (const int32_t i : order) {
    if (items[i].first > reach) list.emplace_back();
    list.back().items.push_back(i);
    reach = std::max<int64_t>(reach, items[i].last);
  }
  return list;
}

// Sections are the moments just before something ends while something new has begun since the last such moment: every set of items that
// are alive together is alive in one of them.
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
    block.size = round_up(items[i].bytes, unit) / unit;
    block.alignment = items[i].alignment / unit;
    block.left = static_cast<int32_t>(std::lower_bound(moments.begin(), moments.end(), items[i].first) - moments.begin());
    block.right = static_cast<int32_t>(std::upper_bound(moments.begin(), moments.end(), items[i].last) - moments.begin()) - 1;
    DEUTERON_CHECK(block.left <= block.right);
    b.block.push_back(block);
  }
  const auto n = static_cast<int32_t>(ids.size());
  b.meets.resize(n);
  for (int32_t i = 0; i < n; ++i)  // `ids` is sorted by first, so the sections are sorted by left
    for (int32_t k = i + 1; k < n && b.block[k].left <= b.block[i].right; ++k) b.meets[i].push_back(k), b.meets[k].push_back(i);
}

int64_t largest_sum(const Blocks& b) {
  std::vector<int64_t> sum(b.sections + 1, 0);
  for (const Block& k : b.block) sum[k.left] += k.size, sum[k.right + 1] -= k.size;
  int64_t most = 0, now = 0;
  for (const int64_t change : sum) most = std::max(most, now += change);
  return most;
}

// Lowers best.height and raises *bound until they meet or the budget is spent. Nobody needs less than `enough`.
void improve(const Blocks& b, int64_t enough, int64_t end, int64_t* steps, PackedBlocks* best, int64_t* bound) {
  for (bool at_bound = true; best->height > std::max(*bound, enough); at_bound = !at_bound) {
    const int64_t target = std::max(enough, at_bound ? *bound : *bound + (best->height - 1 - *bound) / 2);
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

}  // namespace

Packing pack(std::span<const PackItem> items, int64_t budget) {
  Packing result;
  result.offset.assign(items.size(), 0);
  int64_t unit = std::numeric_limits<int64_t>::max();
  for (const PackItem& item : items) {
    DEUTERON_CHECK(item.bytes >= 0 && item.first <= item.last && item.alignment > 0 && (item.alignment & (item.alignment - 1)) == 0);
    unit = std::min(unit, item.alignment);
  }
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
  for (size_t k = 0; k < list.size(); ++k) {  // a stretch need not be lower than the bound of another
    best[k] = pack_greedily(list[k].blocks, lower, budget / kGreedyShare / shares, &result.steps);
    height = std::max(height, best[k].height);
  }
  // The highest stretch first: what it needs is good enough for the others.
  std::vector<size_t> order(list.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return best[a].height > best[b].height; });
  for (const size_t k : order) {
    if (best[k].height <= lower || list[k].blocks.block.size() > kSearchLimit) continue;
    improve(list[k].blocks, lower, result.steps + (budget - result.steps) / 2, &result.steps, &best[k], &bound[k]);
    lower = std::max(lower, bound[k]);
  }
  height = 0;
  for (size_t k = 0; k < list.size(); ++k) {
    height = std::max(height, best[k].height);
    for (size_t i = 0; i < list[k].items.size(); ++i) result.offset[list[k].items[i]] = best[k].offset[i] * unit;
  }
  result.bytes = list.empty() ? 0 : height * unit;
  result.lower_bound = list.empty() ? 0 : lower * unit;
  result.optimal = height == lower;
  return result;
}

}  // namespace deuteron
