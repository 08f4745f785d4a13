// SPDX-License-Identifier: Apache-2.0
#include "explain/report/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "compile/compilation.h"
#include "compile/place/npu_support.h"
#include "explain/report/considered.h"
#include "explain/report/numbers.h"
#include "targets/nearest.h"

namespace deuteron {
namespace {

using Json = nlohmann::ordered_json;

bool has(const Origin& origin, i32 id) {
  return std::binary_search(origin.begin(), origin.end(), id);
}

std::vector<i32> all_called(const Graph& g, const std::vector<std::string>& wanted) {
  std::set<i32> ids;
  for (const std::string& name : wanted)
    for (const i32 id : sources_called(g, name)) ids.insert(id);
  return {ids.begin(), ids.end()};
}

std::string cycles_text(i64 cycles, const char* of) {
  return cycles < 0 ? std::string("not known") : fmt::format("{} cycles ({})", grouped(cycles), of);
}

std::string became_text(const Graph& g, const OperatorReport& o, i32 id, const char* of_cpu) {
  std::string with;
  for (const i32 other : o.origin)
    if (other != id) with += fmt::format("{}{}", with.empty() ? "" : ", ", g.sources[other].name);
  std::string text = o.op;
  if (o.delegate >= 0) text += fmt::format(" in call {} of the NPU", o.delegate);
  if (!with.empty()) text += fmt::format(", with {}", with);
  text += "; " + cycles_text(o.cycles, o.placement == Placement::npu ? "open model" : of_cpu);
  if (!o.bound.empty()) text += fmt::format(", held by {}", o.bound);
  if (o.apart_cycles > 0)
    text += fmt::format("; assumed to be one kernel, two would take {}",
                        cycles_text(o.apart_cycles, "open model"));
  return text;
}

std::string check_text(const NpuCheck& c) {
  return fmt::format("{} {}", c.passed ? "yes" : "NO ", to_text(c));
}

std::string neighbour_text(const Considered::Neighbour& n) {
  return fmt::format("{} `{}`, {} bytes, {} {}{}", n.is_before ? "reads" : "gives", n.tensor,
                     grouped(n.bytes), n.is_before ? "from" : "to", n.what,
                     n.is_across ? " (across the border)" : "");
}

void explain_one(const Graph& g, const std::vector<Considered>& considered, const ProgramReport& r,
                 i32 id, std::string& text) {
  const SourceOp& s = g.sources[id];
  const char* const of_cpu = r.cost.kind_of_cpu;
  text += fmt::format("{} ({}){}, source op {}\n", s.name, s.target,
                      s.module.empty() ? "" : fmt::format(", module `{}`", s.module), id);
  const auto line = [&](std::string_view label, const std::string& what) {
    text += fmt::format("  {:<13} {}\n", label, what);
  };
  for (const Considered& n : considered) {
    if (!has(n.origin, id)) continue;
    const SideDecision& s = n.sides;
    line("as", n.what);
    for (const std::string& q : n.quantization) line("quantization", q);
    for (const NpuCheck& check : s.checks) line("NPU takes it", check_text(check));
    if (!s.checks.empty())
      line("placed", s.on_npu ? std::string("NPU") : fmt::format("CPU: {}", n.why_not));
    const bool is_refused = !s.checks.empty() && !s.on_npu && s.npu_cycles < 0;
    line("cost alone", is_refused || s.checks.empty()
                           ? fmt::format("CPU {}", cycles_text(s.cpu_cycles, of_cpu))
                           : fmt::format("NPU {}, CPU {}", cycles_text(s.npu_cycles, "open model"),
                                         cycles_text(s.cpu_cycles, of_cpu)));
    for (const Considered::Neighbour& neighbour : n.neighbours)
      line("neighbour", neighbour_text(neighbour));
  }
  for (const OperatorReport& o : r.operators)
    if (has(o.origin, id)) line("became", became_text(g, o, id, of_cpu));
  for (const FoldedReport& f : r.folded)
    if (f.source == id) line("no call", f.reason);
}

Json json_of(const Considered& n) {
  Json checks = Json::array(), neighbours = Json::array();
  for (const NpuCheck& k : n.sides.checks)
    checks.push_back({{"rule", k.rule},
                      {"what", k.what},
                      {"measured", k.measured},
                      {"limit", k.limit},
                      {"passed", k.passed}});
  for (const Considered::Neighbour& k : n.neighbours)
    neighbours.push_back({{"tensor", k.tensor},
                          {"operator", k.what},
                          {"before", k.is_before},
                          {"across", k.is_across},
                          {"bytes", k.bytes}});
  const auto cycles = [](i64 v) { return v < 0 ? Json(nullptr) : Json(v); };
  return {{"operator", n.what},
          {"quantization", n.quantization},
          {"checks", checks},
          {"on_npu", n.sides.on_npu},
          {"why_not", n.why_not},
          {"npu_cycles", cycles(n.sides.npu_cycles)},
          {"cpu_cycles", cycles(n.sides.cpu_cycles)},
          {"neighbours", neighbours}};
}

}  // namespace

std::vector<i32> sources_called(const Graph& g, const std::string& wanted) {
  std::vector<i32> ids;
  for (size_t k = 0; k < g.sources.size(); ++k)
    if (wanted == g.sources[k].name || (!wanted.empty() && wanted == g.sources[k].module) ||
        wanted == std::to_string(k))
      ids.push_back(static_cast<i32>(k));
  return ids;
}

void check_explain(const Graph& g, const std::vector<std::string>& wanted,
                   Diagnostics& diagnostics) {
  std::set<std::string> known;
  for (const SourceOp& s : g.sources) {
    known.insert(s.name);
    if (!s.module.empty()) known.insert(s.module);
  }
  for (const std::string& name : wanted) {
    if (!sources_called(g, name).empty()) continue;
    const bool is_number =
        !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
    diagnostics.error(fmt::format("{}: --explain {}", g.name, name),
                      "names no operator or module of the model", "explain.name",
                      is_number && !g.sources.empty()
                          ? fmt::format("source ops are 0 to {}", g.sources.size() - 1)
                          : suggestion(name, std::vector<std::string>(known.begin(), known.end())));
  }
}

std::string explain_text(const Compilation& c, const ProgramReport& r,
                         const std::vector<std::string>& wanted) {
  std::string text;
  const std::vector<Considered> considered = considered_operators(c.partition);
  for (const i32 id : all_called(c.graph, wanted)) explain_one(c.graph, considered, r, id, text);
  return text;
}

Json explain_json(const Compilation& c, const ProgramReport& r,
                  const std::vector<std::string>& wanted) {
  Json list = Json::array();
  const std::vector<Considered> operators = considered_operators(c.partition);
  for (const i32 id : all_called(c.graph, wanted)) {
    const SourceOp& s = c.graph.sources[id];
    Json considered = Json::array(), became = Json::array(), folded = Json::array();
    for (const Considered& n : operators)
      if (has(n.origin, id)) considered.push_back(json_of(n));
    for (const OperatorReport& o : r.operators)
      if (has(o.origin, id))
        became.push_back({{"op", o.op},
                          {"placement", name_of(o.placement)},
                          {"delegate", o.delegate},
                          {"cycles", o.cycles < 0 ? Json(nullptr) : Json(o.cycles)}});
    for (const FoldedReport& f : r.folded)
      if (f.source == id) folded.push_back(f.reason);
    list.push_back({{"source", id},
                    {"name", s.name},
                    {"target", s.target},
                    {"module", s.module},
                    {"as", considered},
                    {"became", became},
                    {"no_call", folded}});
  }
  return list;
}

}  // namespace deuteron
