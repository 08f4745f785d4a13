// SPDX-License-Identifier: Apache-2.0
// A profile in words: tables for people, CSV for spreadsheets, JSON for scripts and for the page.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "explain/inspect/profile.h"

namespace deuteron {

// Two traces by the same keys. `before` or `after` is -1 where only the other trace has the row.
struct ComparedRow {
  std::string name, detail;
  bool npu = false;
  double before = -1, after = -1;  // ticks of one call of the method, on average
  double change() const { return (after < 0 ? 0 : after) - (before < 0 ? 0 : before); }
};
struct Comparison {
  std::vector<ComparedRow> kernels, operators;                          // largest change first
  double before_cpu = 0, after_cpu = 0, before_npu = 0, after_npu = 0;  // of one call, whole
};
Comparison compare_profiles(const Profile& before, const Profile& after);

// `limit`: rows of each table; 0: all.
std::string profile_text(const Profile& profile, size_t limit);
std::string profile_csv(const Profile& profile);
nlohmann::ordered_json profile_json(const Profile& profile);

std::string comparison_text(const Comparison& comparison, const Profile& after, size_t limit);
nlohmann::ordered_json comparison_json(const Comparison& comparison);

}  // namespace deuteron
