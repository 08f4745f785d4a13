// SPDX-License-Identifier: Apache-2.0
#include "ir/source_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace deuteron {

std::string user_name(const SourceOp& s) { return s.module.empty() ? s.name : s.module; }

std::string user_names(const Graph& g, const Origin& origin) {
  std::vector<std::string> names;
  for (const i32 id : users_own(g, origin)) {
    std::string name = user_name(g.sources[id]);
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  }
  return fmt::format("{}", fmt::join(names, " + "));
}

std::string user_operators_text(const Graph& g, const Origin& origin) {
  std::vector<std::string> sources;
  for (const i32 id : users_own(g, origin))
    sources.push_back(fmt::format("{} ({})", g.sources[id].name, g.sources[id].target));
  return fmt::format("{}", fmt::join(sources, ", "));
}

}  // namespace deuteron
