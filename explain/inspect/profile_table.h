// SPDX-License-Identifier: Apache-2.0
// One table of a profile while it is filled: what each row sums up, and the order of the rows at
// the end.
#pragma once
#include <map>
#include <vector>

#include "explain/inspect/place_events.h"
#include "explain/inspect/profile.h"

namespace deuteron {

struct ProfileSums {
  ProfileRow row;
  i64 number = 0;  // in the order in which the rows appeared
  std::map<i64, u64> by_run;
  std::vector<u64> each;
};

// A call more in a row. `kernel`: what the map says of it; may be null.
void count(ProfileSums& sums, u64 ticks, i64 run, const MapKernel* kernel);

// What a row is a share of.
struct ProfileTotals {
  ProfileClocks clocks;
  u64 cpu, npu;
};

// Sorted by share, largest first; where the clocks cannot be compared, the NPU's rows stand before
// the CPU's. `over_runs`: least, median and most are of whole runs, not of calls. `places`: by
// number of a row, where it is.
std::vector<ProfileRow> sorted_rows(std::vector<ProfileSums*> table, const ProfileTotals& totals,
                                    bool over_runs, std::vector<i64>* places);

template <class Key>
class ProfileTable {
 public:
  // The row of a key; `fresh` where there is none yet.
  ProfileSums& at(const Key& key, const ProfileRow& fresh) {
    const auto [it, is_new] = sums_.try_emplace(key);
    if (is_new) it->second.row = fresh, it->second.number = static_cast<i64>(sums_.size()) - 1;
    return it->second;
  }

  std::vector<ProfileRow> rows(const ProfileTotals& totals, bool over_runs,
                               std::vector<i64>* places = nullptr) {
    std::vector<ProfileSums*> table;
    for (auto& [key, s] : sums_) table.push_back(&s);
    return sorted_rows(std::move(table), totals, over_runs, places);
  }

 private:
  std::map<Key, ProfileSums> sums_;
};

}  // namespace deuteron
