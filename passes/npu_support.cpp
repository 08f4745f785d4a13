#include "passes/npu_support.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "passes/npu_options.h"
#include "targets/nearest.h"
#include "targets/target.h"

namespace deuteron {

// "aten.conv2d.default" is also `conv2d.default` and `conv2d`: whole words between the dots, never a part of one.
static bool names_operator(const std::string& wanted, const std::string& target) {
  if (wanted == target) return true;
  const size_t first = target.find('.'), last = target.rfind('.');
  if (first == std::string::npos) return false;
  return wanted == target.substr(first + 1) || (last > first && wanted == target.substr(first + 1, last - first - 1));
}

static const std::string* exclusion_of(const Graph& g, const Node& node, const NpuOptions& options) {
  for (const std::string& wanted : options.exclude) {
    if (wanted == name_of(node.op)) return &wanted;
    for (const i32 id : users_own(g, node.origin)) {
      const SourceOp& source = g.sources[id];
      if (wanted == source.name || wanted == source.module || names_operator(wanted, source.target)) return &wanted;
    }
  }
  return nullptr;
}

std::vector<NpuCheck> npu_checks(const Graph& g, const Node& node, const Target& target, const NpuOptions& options) {
  if (!target.npu) return {{"neutron.target", "the target has no NPU", "", "", false}};
  if (const std::string* wanted = exclusion_of(g, node, options))
    return {{"neutron.exclude", fmt::format("kept off the NPU by --neutron-exclude {}", *wanted), "", "", false}};
  const bool computed = std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) { return !g.is_constant(v); });
  if (!computed) return {{"neutron.constant", "its result is known", "", "", false}};
  std::vector<const Type*> in, out;
  std::vector<const Constant*> data;
  for (const ValueId v : node.inputs) data.push_back(g.values[v].constant ? &*g.values[v].constant : nullptr);
  return npu_checks(node.op, {g.types(node.inputs, in), g.types(node.outputs, out), data, target.npu->limits});
}

bool npu_takes(const Graph& g, const Node& node, const Target& target, const NpuOptions& options) {
  return passed(npu_checks(g, node, target, options));
}

void check_exclusions(const Graph& g, const NpuOptions& options, Diagnostics& diagnostics) {
  std::set<std::string> known;
  for (const Node& node : g.nodes) known.emplace(name_of(node.op));
  for (const SourceOp& source : g.sources) {
    known.insert(source.name);
    if (!source.module.empty()) known.insert(source.module);
    known.insert(source.target);
  }
  for (const std::string& wanted : options.exclude) {
    const bool found = known.count(wanted) > 0 ||
                       std::any_of(g.sources.begin(), g.sources.end(), [&](const SourceOp& s) { return names_operator(wanted, s.target); });
    if (!found)
      diagnostics.error(fmt::format("{}: --neutron-exclude {}", g.name, wanted), "names no operator, node or module of the model",
                        "neutron.exclude", suggestion(wanted, std::vector<std::string>(known.begin(), known.end())));
  }
}

std::string to_text(const NpuCheck& c) {
  if (c.measured.empty() && c.limit.empty()) return fmt::format("{} [{}]", c.what, c.rule);
  return fmt::format("{}: {}, limit {} [{}]", c.what, c.measured, c.limit, c.rule);
}

}  // namespace deuteron
