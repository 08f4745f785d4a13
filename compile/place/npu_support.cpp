// SPDX-License-Identifier: Apache-2.0
#include "compile/place/npu_support.h"

#include <fmt/format.h>

#include <algorithm>

#include "compile/named_nodes.h"
#include "compile/npu_options.h"
#include "targets/target.h"

namespace deuteron {

static const std::string* exclusion_of(const Graph& g, const Node& node,
                                       const NpuOptions& options) {
  for (const std::string& wanted : options.exclude)
    if (is_named(g, node, wanted)) return &wanted;
  return nullptr;
}

// A part of an operator of the user's, whom the part's own reason alone tells nothing.
static void tell_parts(const Graph& g, const Node& node, NpuCheck& check) {
  for (const i32 id : users_own(g, node.origin))
    if (const std::string& why = g.sources[static_cast<size_t>(id)].in_parts; !why.empty()) {
      check.what = fmt::format("{}: {}", why, check.what);
      return;
    }
}

std::vector<NpuCheck> npu_checks(const Graph& g, const Node& node, const Target& target,
                                 const NpuOptions& options) {
  if (!target.npu) return {{"neutron.target", "the target has no NPU", "", "", false}};
  if (const std::string* wanted = exclusion_of(g, node, options))
    return {{"neutron.exclude", fmt::format("kept off the NPU by --layer {}=cpu", *wanted), "", "",
             false}};
  const bool computed = std::any_of(node.inputs.begin(), node.inputs.end(),
                                    [&](ValueId v) { return !g.is_constant(v); });
  if (!computed) return {{"neutron.constant", "its result is known", "", "", false}};
  std::vector<const Type*> in, out;
  std::vector<const Constant*> data;
  for (const ValueId v : node.inputs)
    data.push_back(g.values[v].constant ? &*g.values[v].constant : nullptr);
  std::vector<NpuCheck> checks = npu_checks(
      node.op, {g.types(node.inputs, in), g.types(node.outputs, out), data, target.npu->limits});
  if (!passed(checks)) tell_parts(g, node, checks.back());
  return checks;
}

bool npu_takes(const Graph& g, const Node& node, const Target& target, const NpuOptions& options) {
  return passed(npu_checks(g, node, target, options));
}

void check_exclusions(const Graph& g, const NpuOptions& options, Diagnostics& diagnostics) {
  for (const std::string& wanted : options.exclude)
    check_name(g, "--layer", wanted, "neutron.exclude", diagnostics);
}

std::string to_text(const NpuCheck& c) {
  if (c.measured.empty() && c.limit.empty()) return fmt::format("{} [{}]", c.what, c.rule);
  return fmt::format("{}: {}, limit {} [{}]", c.what, c.measured, c.limit, c.rule);
}

}  // namespace deuteron
