// SPDX-License-Identifier: Apache-2.0
#include "explain/doctor/doctor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "compile/schedule/memories.h"
#include "explain/doctor/advice.h"
#include "explain/report/numbers.h"
#include "explain/report/report.h"
#include "frontends/pt2/file/source_names.h"
#include "ir/source_names.h"
#include "ops/families.h"

namespace deuteron {

FindingPlace place_of(const Graph& g, const Origin& origin) {
  FindingPlace place{user_names(g, origin), user_operators_text(g, origin), {}};
  for (const i32 id : users_own(g, origin))
    if (place.line.empty()) place.line = pt2::users_line(g.sources[id].stack);
  return place;
}

double share_of_cycles(const Patient& p, i64 cycles) {
  const i64 total = p.program.cost.total();
  return total > 0 ? static_cast<double>(cycles) / static_cast<double>(total) : 0;
}

std::string cycles_text(const Patient& p, i64 cycles, std::string_view how) {
  if (cycles < 0) return "not known: the target has no costs for this";
  return fmt::format("{} cycles, {:.1f} % of {} ({})", grouped(cycles),
                     100 * share_of_cycles(p, cycles), grouped(p.program.cost.total()), how);
}

std::string of_cpu(const Patient& p) { return fmt::format("CPU, {}", p.program.cost.kind_of_cpu); }

std::vector<NodeId> nodes_of_instructions(const Graph& lowered) {
  std::vector<NodeId> nodes;
  for (size_t n = 0; n < lowered.nodes.size(); ++n)
    if (call_of(lowered.nodes[n].op)) nodes.push_back(static_cast<NodeId>(n));
  return nodes;
}

bool is_at_port(const Graph& g, const Node& node) {
  const auto* call = call_of(node.op);
  if (!call || node.inputs.empty() || node.outputs.size() != 1) return false;
  const DType from = g.type(node.inputs[0]).dtype, to = g.type(node.outputs[0]).dtype;
  const auto has = [](const std::vector<Port>& ports, ValueId v) {
    return std::ranges::find(ports, v, &Port::value) != ports.end();
  };
  return (from == DType::f32 && to == DType::s8 && has(g.inputs, node.inputs[0])) ||
         (from == DType::s8 && to == DType::f32 && has(g.outputs, node.outputs[0]));
}

std::optional<Finding> finding_of_error(const Diagnostic& e) {
  static constexpr std::string_view kMemoryRules[] = {"compile.max_ram", "target.memory"};
  const bool is_memory = std::ranges::find(kMemoryRules, e.rule) != std::end(kMemoryRules);
  const Change* advice = npu_advice_for(e.rule);
  if (!is_memory && !advice) return std::nullopt;
  double missing = -1;
  if (i64 measured = 0, limit = 0;
      is_memory &&
      std::from_chars(e.measured.data(), e.measured.data() + e.measured.size(), measured).ec ==
          std::errc() &&
      std::from_chars(e.limit.data(), e.limit.data() + e.limit.size(), limit).ec == std::errc())
    missing = static_cast<double>(measured - limit);
  Finding f =
      finding_of(is_memory ? FindingKind::too_large : FindingKind::refused, e.what,
                 {{e.where, "", ""}}, missing,
                 is_memory ? fmt::format("{} bytes above the limit: {}, limit {} (the memory plan)",
                                         grouped(static_cast<i64>(missing)), e.measured, e.limit)
                           : std::string("there is no program"));
  f.rule = e.rule;
  if (advice) f.change = advice->change, f.code = advice->code;
  f.why = is_memory ? e.fix
          : e.measured.empty()
              ? std::string("a rule of the NPU, and the target has no kernels of a CPU")
              : fmt::format("{}, limit {}", e.measured, e.limit);
  return f;
}

// The worst part first, where there are several.
static std::string accuracy_text(const Accuracy& a) {
  if (a.is_exact()) return "equal to the float model";
  if (!a.has_numbers()) return text_of_integers(a.outputs);
  const auto worst = worst_part(a.outputs);
  const std::string all = fmt::format("{:.1f} dB", a.sqnr_db);
  return worst ? fmt::format("{:.1f} dB in {}, {} all together", worst->output->db(worst->part),
                             name_of(*worst), all)
               : all;
}

std::string good_text(const Patient& p) {
  std::vector<std::string> parts;
  const i64 in_float = count_of(p.program, Placement::portable);
  parts.push_back(in_float == 0
                      ? std::string("int8 throughout")
                      : fmt::format("{} call{} in float", in_float, in_float == 1 ? "" : "s"));
  if (const NpuTotal npu = npu_total(p.program); npu.kernels > 0 && p.program.macs > 0)
    parts.push_back(
        fmt::format("{:.1f} % of the multiply-adds on the NPU",
                    100.0 * static_cast<double>(npu.macs) / static_cast<double>(p.program.macs)));
  if (const i64 total = p.program.cost.total(); total > 0 && p.program.cost.not_known == 0)
    parts.push_back(grouped(total) + " cycles");
  const Compilation& c = p.compilation;
  const Room room = room_for_activations(p.target, calls_npu(c.graph), c.plan.bytes, 0);
  parts.push_back(fmt::format("RAM {}{} bytes", grouped(c.plan.bytes),
                              room.memory ? " of " + grouped(room.bytes) : ""));
  parts.push_back(fmt::format("flash {} bytes", grouped(static_cast<i64>(c.pte.size()))));
  if (p.accuracy && !p.made_up_samples) parts.push_back(accuracy_text(*p.accuracy));
  if (p.accuracy && p.accuracy->of_own_conversion)
    parts.push_back(
        "accuracy is that of our conversion of the NPU's parts, which computes the same");
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::vector<Finding> examine(const Patient& patient) {
  std::vector<Finding> findings;
  for (auto* one : {examine_answers, examine_sides, examine_time, examine_accuracy, examine_memory})
    one(patient, findings);
  rank(findings);
  return findings;
}

}  // namespace deuteron
