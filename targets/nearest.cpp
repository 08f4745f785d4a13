// SPDX-License-Identifier: Apache-2.0
#include "targets/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace deuteron {

static char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Optimal string alignment, three rows of the table at a time.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
          lower(a[i - 2]) == lower(b[j - 1]))
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

std::vector<std::string> nearest(std::string_view name, std::span<const std::string> known,
                                 size_t count) {
  if (name.size() > 200) return {};
  struct Candidate {
    size_t distance, not_in_common;  // letters after the prefix that both share
    const std::string* known;
  };
  std::vector<Candidate> ranked;
  for (const std::string& k : known) {
    const size_t d = edit_distance(name, k);
    if (d > std::max<size_t>(2, k.size() / 3)) continue;
    size_t prefix = 0;
    while (prefix < name.size() && prefix < k.size() && lower(name[prefix]) == lower(k[prefix]))
      ++prefix;
    ranked.push_back({d, name.size() - prefix, &k});
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const Candidate& x, const Candidate& y) {
    return std::pair(x.distance, x.not_in_common) < std::pair(y.distance, y.not_in_common);
  });
  std::vector<std::string> names;
  for (size_t i = 0; i < ranked.size() && i < count; ++i) names.push_back(*ranked[i].known);
  return names;
}

std::string suggestion(std::string_view name, std::span<const std::string> known) {
  const std::vector<std::string> near = nearest(name, known);
  if (near.empty()) return fmt::format("known: {}", fmt::join(known, ", "));
  std::string text = "did you mean ";
  for (size_t i = 0; i < near.size(); ++i)
    text += fmt::format("{}`{}`", i == 0 ? "" : i + 1 == near.size() ? " or " : ", ", near[i]);
  return text + "?";
}

std::string target_suggestion(std::string_view name, std::span<const std::string> known) {
  const std::string text = suggestion(name, known);
  return text + (text.ends_with('?') ? "" : ".") + " A file of your own ends in `.toml`.";
}

}  // namespace deuteron
