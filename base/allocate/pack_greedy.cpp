// SPDX-License-Identifier: Apache-2.0
// Constructive heuristics of the packer: what solves nearly every network at once, and gives the
// search a first answer to improve.
#include <algorithm>
#include <numeric>

#include "base/allocate/pack_blocks.h"

namespace deuteron {
namespace {

// xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled"):
// a fixed seed, the same on every machine.
struct Random {
  uint64_t state = 0x9E3779B97F4A7C15u;
  int32_t below(int32_t n) {
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    return static_cast<int32_t>((state * 0x2545F4914F6CDD1Du >> 33) % static_cast<uint64_t>(n));
  }
};

std::vector<std::vector<int32_t>> orders(const Blocks& b) {
  const auto n = static_cast<int32_t>(b.block.size());
  std::vector<int64_t> load(b.sections, 0);  // alive at each moment
  for (const Block& k : b.block)
    for (int32_t s = k.left; s <= k.right; ++s) load[s] += k.size;
  std::vector<int64_t> crowd(n);  // the most that is alive together with it
  for (int32_t i = 0; i < n; ++i)
    crowd[i] =
        *std::max_element(load.begin() + b.block[i].left, load.begin() + b.block[i].right + 1);

  std::vector<int32_t> plain(n);
  std::iota(plain.begin(), plain.end(), 0);
  const auto length = [&](int32_t i) { return int64_t{b.block[i].right} - b.block[i].left + 1; };
  std::vector<std::vector<int32_t>> list;
  const auto by = [&](auto key) {  // descending
    std::vector<int32_t> order = plain;
    std::stable_sort(order.begin(), order.end(),
                     [&](int32_t x, int32_t y) { return key(x) > key(y); });
    list.push_back(std::move(order));
  };
  by([&](int32_t i) { return std::pair(b.block[i].size, length(i)); });
  by([&](int32_t i) { return std::pair(length(i), b.block[i].size); });
  by([&](int32_t i) { return std::pair(b.block[i].size * length(i), b.block[i].size); });
  by([&](int32_t i) { return std::pair(-int64_t{b.block[i].left}, b.block[i].size); });
  by([&](int32_t i) { return std::pair(int64_t{b.block[i].right}, b.block[i].size); });
  by([&](int32_t i) { return std::pair(crowd[i], b.block[i].size); });
  by([&](int32_t i) { return std::pair(crowd[i], length(i)); });
  if (b.listed.empty()) return list;
  // What may begin a little below others, and only far above them, comes before them.
  std::vector<int64_t> lower(n, 0);
  bool one_over_another = false;
  for (int32_t i = 0; i < n; ++i)
    for (const Meeting& m : b.listed[i]) {
      if (m.below == b.block[i].size && m.above == b.block[m.other].size) continue;
      lower[i] += m.below < m.above ? 1 : -1;
      one_over_another = true;
    }
  if (!one_over_another) return list;
  by([&](int32_t i) { return std::pair(lower[i], b.block[i].size); });
  by([&](int32_t i) { return std::pair(lower[i], int64_t{b.block[i].right}); });
  return list;
}

// The blocks that meet one, by index.
std::vector<int32_t> others_of(const Blocks& b, int32_t i) {
  std::vector<int32_t> others;
  b.for_each_meeting(i, [&](const Meeting& m) { others.push_back(m.other); });
  std::sort(others.begin(), others.end());
  return others;
}

int32_t one_of(const std::vector<int32_t>& others, Random& random) {
  return others[random.below(static_cast<int32_t>(others.size()))];
}

}  // namespace

PackedBlocks first_fit(const Blocks& b, const std::vector<int32_t>& order, int64_t* steps) {
  PackedBlocks p;
  p.offset.assign(b.block.size(), -1);
  std::vector<std::pair<int64_t, int64_t>> taken;  // no place of the block lies between the two
  for (const int32_t i : order) {
    taken.clear();
    ++*steps;
    b.for_each_meeting(i, [&](const Meeting& m) {
      ++*steps;
      if (p.offset[m.other] >= 0)
        taken.emplace_back(p.offset[m.other] - m.below, p.offset[m.other] + m.above);
    });
    std::sort(taken.begin(), taken.end());
    int64_t at = 0;
    for (const auto& [highest_below, lowest_above] : taken) {
      if (at <= highest_below) break;
      at = std::max(at, align_up(lowest_above, b.block[i].alignment));
    }
    p.offset[i] = at;
    p.height = std::max(p.height, at + b.block[i].size);
  }
  return p;
}

PackedBlocks pack_greedily(const Blocks& b, int64_t good_enough, int64_t budget, int64_t* steps) {
  const int64_t end = *steps + budget;
  PackedBlocks best;
  std::vector<int32_t> best_order;
  for (std::vector<int32_t>& order : orders(b)) {
    PackedBlocks p = first_fit(b, order, steps);
    if (!best_order.empty() && p.height >= best.height) continue;
    best = std::move(p);
    best_order = std::move(order);
    if (best.height <= good_enough) return best;
  }
  // A block that reaches the top changes places with one that it meets and that came earlier.
  Random random;
  const auto n = static_cast<int32_t>(b.block.size());
  PackedBlocks current = best;
  std::vector<int32_t> order = best_order, rank(n);
  while (*steps < end && n > 2) {
    std::vector<int32_t> top;
    for (int32_t i = 0; i < n; ++i)
      if (current.offset[i] + b.block[i].size == current.height) top.push_back(i);
    for (int32_t k = 0; k < n; ++k) rank[order[k]] = k;
    *steps += 2 * n;
    const int32_t high = top[random.below(static_cast<int32_t>(top.size()))];
    const std::vector<int32_t> others = others_of(b, high);
    if (others.empty()) break;
    std::vector<int32_t> next = order;
    int32_t other = one_of(others, random);
    if (random.below(2))  // or with one that a neighbour meets: what stands in the neighbour's way
      other = one_of(others_of(b, other), random);
    std::swap(next[rank[high]], next[rank[other]]);
    PackedBlocks p = first_fit(b, next, steps);
    if (p.height > current.height) continue;
    current = std::move(p);
    order = std::move(next);
    if (current.height >= best.height) continue;
    best = current;
    if (best.height <= good_enough) return best;
  }
  return best;
}

}  // namespace deuteron
