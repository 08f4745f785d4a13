// SPDX-License-Identifier: Apache-2.0
#include "explain/inspect/profile_table.h"

#include <algorithm>

namespace deuteron {

static u64 median_of(std::vector<u64> v) {
  if (v.empty()) return 0;
  std::sort(v.begin(), v.end());
  const size_t half = v.size() / 2;
  return v.size() % 2 ? v[half] : v[half - 1] + (v[half] - v[half - 1]) / 2;
}

// A record may claim anything: sums stop where nothing real is.
static constexpr i64 kMostCounted = i64{1} << 60;
static void add_known(i64& sum, i64 more, bool first) {
  if (first) sum = std::min(more, kMostCounted);
  else if (sum >= 0)
    sum = more < 0 ? -1 : std::min(sum + std::min(more, kMostCounted), kMostCounted);
}

void count(ProfileSums& s, u64 ticks, i64 run, const MapKernel* kernel) {
  s.by_run[run] += ticks;
  s.row.total += ticks;
  const bool first = s.row.calls++ == 0;
  s.each.push_back(ticks);
  add_known(s.row.macs, kernel ? kernel->macs : -1, first);
  add_known(s.row.bytes, kernel ? kernel->bytes : -1, first);
  add_known(s.row.predicted_cycles, kernel ? kernel->predicted_cycles : -1, first);
  if (kernel && kernel->apart_cycles > 0)
    ++s.row.assumed_calls,
        s.row.apart_cycles = std::min(
            s.row.apart_cycles + std::min(kernel->apart_cycles, kMostCounted), kMostCounted);
}

static void spread(ProfileSums& s, const ProfileTotals& totals, bool over_runs) {
  std::vector<u64> list = s.each;
  if (over_runs) {
    list.clear();
    for (const auto& [run, ticks] : s.by_run) list.push_back(ticks);
  }
  if (list.empty()) return;
  s.row.min = *std::min_element(list.begin(), list.end());
  s.row.max = *std::max_element(list.begin(), list.end());
  s.row.median = median_of(std::move(list));
  const auto [comparable, npu_to_cpu] =
      std::pair(totals.clocks.comparable, totals.clocks.npu_to_cpu);
  const double whole =
      comparable ? static_cast<double>(totals.cpu) + static_cast<double>(totals.npu) * npu_to_cpu
                 : static_cast<double>(s.row.npu ? totals.npu : totals.cpu);
  const double part =
      static_cast<double>(s.row.total) * (s.row.npu && comparable ? npu_to_cpu : 1.0);
  s.row.share = whole > 0 ? part / whole : 0;
}

std::vector<ProfileRow> sorted_rows(std::vector<ProfileSums*> table, const ProfileTotals& totals,
                                    bool over_runs, std::vector<i64>* places) {
  for (ProfileSums* s : table) {
    spread(*s, totals, over_runs);
    s->row.added = s->row.added || (s->row.total > 0 && s->row.added_ticks == s->row.total);
  }
  std::stable_sort(table.begin(), table.end(), [&](const ProfileSums* a, const ProfileSums* b) {
    if (!totals.clocks.comparable && a->row.npu != b->row.npu) return a->row.npu > b->row.npu;
    return a->row.share > b->row.share;
  });
  std::vector<ProfileRow> sorted;
  if (places) places->resize(table.size());
  for (const ProfileSums* s : table) {
    if (places) (*places)[s->number] = static_cast<i64>(sorted.size());
    sorted.push_back(s->row);
  }
  return sorted;
}

}  // namespace deuteron
