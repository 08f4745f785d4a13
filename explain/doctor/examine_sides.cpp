// SPDX-License-Identifier: Apache-2.0
// What the NPU did not take, and what runs in float.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compile/lower/portable_calls.h"
#include "compile/place/npu_support.h"
#include "explain/doctor/advice.h"
#include "explain/doctor/doctor.h"
#include "ops/families.h"

namespace deuteron {
namespace {

// Calls of one finding.
struct Group {
  std::vector<Origin> origins;
  i64 cycles = 0, macs = 0;
  bool known = true;

  void add(const OperatorReport& o) {
    if (std::ranges::find(origins, o.origin) == origins.end()) origins.push_back(o.origin);
    macs += o.macs;
    if (o.cycles < 0) known = false;
    else cycles += o.cycles;
  }
  std::string cost_text(const Patient& p) const {
    return (known || cycles > 0 ? cycles_text(p, cycles, of_cpu(p)) : "cycles not known") +
           (known ? "" : ", without kernels whose cost is not known");
  }
  std::vector<FindingPlace> places(const Graph& g) const {
    std::vector<FindingPlace> list;
    for (const Origin& origin : origins) list.push_back(place_of(g, origin));
    return list;
  }
};

const KeptOnCpu* reason_of(const Graph& g, const std::vector<KeptOnCpu>& list,
                           const Origin& origin) {
  for (const KeptOnCpu& kept : list) {
    const Origin own = users_own(g, kept.origin);
    if (std::includes(origin.begin(), origin.end(), own.begin(), own.end())) return &kept;
  }
  for (const KeptOnCpu& kept : list) {
    const Origin own = users_own(g, kept.origin);
    if (std::find_first_of(own.begin(), own.end(), origin.begin(), origin.end()) != own.end())
      return &kept;
  }
  return nullptr;
}

// "aten::topk" or "aten::topk.values": "topk"
std::string bare_name(std::string kernel) {
  if (const size_t at = kernel.find("::"); at != std::string::npos) kernel.erase(0, at + 2);
  return kernel.substr(0, kernel.find('.'));
}

}  // namespace

void examine_sides(const Patient& p, std::vector<Finding>& findings) {
  const Compilation& c = p.compilation;
  const std::vector<NodeId> nodes = nodes_of_instructions(c.graph);
  // In the order in which they are met, so that equal costs do not depend on names.
  std::vector<std::pair<const NpuCheck*, Group>> kept;
  std::vector<std::pair<std::string, Group>> in_float;
  const auto group_of = [](auto& groups, const auto& key, const auto& same) -> Group& {
    for (auto& [k, group] : groups)
      if (same(k, key)) return group;
    groups.emplace_back(key, Group());
    return groups.back().second;
  };
  for (const OperatorReport& o : p.program.operators) {
    if (o.placement == Placement::npu ||
        is_at_port(c.graph, c.graph.nodes[nodes[static_cast<size_t>(o.instruction)]]))
      continue;
    if (why_in_float(c.quantization.in_float, o.origin)) continue;
    if (o.placement == Placement::portable)
      group_of(in_float, bare_name(o.op), std::equal_to<>()).add(o);
    else if (const KeptOnCpu* why =
                 p.target.npu ? reason_of(c.graph, c.partition.kept_on_cpu, o.origin) : nullptr)
      group_of(kept, &why->why, [](const NpuCheck* a, const NpuCheck* b) {
        return to_text(*a) == to_text(*b);
      }).add(o);
  }
  for (const auto& [why, group] : kept) {
    Finding f =
        finding_of(FindingKind::kept_on_cpu, "stays on the CPU: " + why->what,
                   group.places(c.graph), static_cast<double>(group.cycles), group.cost_text(p));
    f.rule = why->rule;
    f.why = why->measured.empty() ? "a rule of the NPU"
                                  : fmt::format("{}, limit {}", why->measured, why->limit);
    if (const Change* advice = npu_advice_for(why->rule))
      f.change = advice->change, f.code = advice->code;
    findings.push_back(std::move(f));
  }
  for (const auto& [kernel, group] : in_float) {
    Finding f = finding_of(
        FindingKind::float_operator, fmt::format("runs in float on the portable kernel {}", kernel),
        group.places(c.graph), group.known ? static_cast<double>(group.cycles) : -1,
        group.cost_text(p));
    f.why = "it has no int8 form, or a quantized model gives its values no range";
    const Change& advice = float_advice_for(kernel);
    f.change = advice.change, f.code = advice.code;
    findings.push_back(std::move(f));
  }
}

}  // namespace deuteron
