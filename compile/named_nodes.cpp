// SPDX-License-Identifier: Apache-2.0
#include "compile/named_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "targets/nearest.h"

namespace deuteron {

// "aten.conv2d.default" is also `conv2d.default` and `conv2d`: whole words between the dots, never
// a part of one.
static bool names_operator(const std::string& wanted, const std::string& target) {
  if (wanted == target) return true;
  const size_t first = target.find('.'), last = target.rfind('.');
  if (first == std::string::npos) return false;
  return wanted == target.substr(first + 1) ||
         (last > first && wanted == target.substr(first + 1, last - first - 1));
}

bool is_named(const Graph& g, const Node& node, const std::string& wanted) {
  if (wanted == name_of(node.op) || (!wanted.empty() && wanted == npu_builtin(node.op)))
    return true;
  for (const i32 id : users_own(g, node.origin)) {
    const SourceOp& source = g.sources[id];
    if (wanted == source.name || wanted == source.module || names_operator(wanted, source.target))
      return true;
  }
  return false;
}

void check_name(const Graph& g, const std::string& option, const std::string& wanted,
                const std::string& rule, Diagnostics& diagnostics) {
  std::set<std::string> known;
  for (const Node& node : g.nodes) known.emplace(name_of(node.op));
  for (const SourceOp& source : g.sources) {
    known.insert(source.name);
    if (!source.module.empty()) known.insert(source.module);
    known.insert(source.target);
  }
  if (known.count(wanted) > 0 ||
      std::ranges::any_of(g.sources,
                          [&](const SourceOp& s) { return names_operator(wanted, s.target); }) ||
      std::ranges::any_of(g.nodes, [&](const Node& node) { return is_named(g, node, wanted); }))
    return;
  diagnostics.error(fmt::format("{}: {} {}", g.name, option, wanted),
                    "names no operator, node or module of the model", rule,
                    suggestion(wanted, std::vector<std::string>(known.begin(), known.end())));
}

}  // namespace deuteron
