// SPDX-License-Identifier: Apache-2.0
// What takes time wherever it runs.
#include <fmt/format.h>

#include <algorithm>

#include "explain/doctor/doctor.h"
#include "explain/report/numbers.h"
#include "explain/report/report.h"
#include "ops/families.h"

namespace deuteron {
namespace {

constexpr double kLeastShare = 0.01;       // of all cycles: less is not told
constexpr double kDominantShare = 0.3;     // of all cycles, of one operator
constexpr size_t kLeastOperators = 3;      // fewer than that always dominate
constexpr double kLeastUnusedLanes = 0.2;  // of the products of a layer

void add_if_dear(const Patient& p, FindingKind kind, std::string what,
                 std::vector<FindingPlace> where, i64 cycles, std::string_view how,
                 std::vector<Finding>& findings) {
  if (cycles > 0 && share_of_cycles(p, cycles) >= kLeastShare)
    findings.push_back(finding_of(kind, std::move(what), std::move(where),
                                  static_cast<double>(cycles), cycles_text(p, cycles, how)));
}

std::string operator_cycles_text(const Patient& p, const OperatorReport& o) {
  return cycles_text(p, o.cycles, o.placement == Placement::npu ? std::string(kOfNpu) : of_cpu(p));
}

void ports(const Patient& p, const std::vector<NodeId>& nodes, std::vector<Finding>& findings) {
  const Graph& g = p.compilation.graph;
  i64 cycles = 0;
  std::vector<FindingPlace> where;
  for (const OperatorReport& o : p.program.operators) {
    const Node& node = g.nodes[nodes[static_cast<size_t>(o.instruction)]];
    if (!is_at_port(g, node)) continue;
    cycles += std::max<i64>(o.cycles, 0);
    const bool is_input = g.type(node.inputs[0]).dtype == DType::f32;
    const ValueId v = is_input ? node.inputs[0] : node.outputs[0];
    const std::string& name =
        std::ranges::find(is_input ? g.inputs : g.outputs, v, &Port::value)->name;
    where.push_back({fmt::format("{} `{}`, {} elements", is_input ? "input" : "output", name,
                                 grouped(g.type(v).elements())),
                     "", ""});
  }
  add_if_dear(p, FindingKind::float_ports, "the CPU quantizes float inputs and dequantizes outputs",
              std::move(where), cycles, of_cpu(p), findings);
}

void transposes(const Patient& p, const std::vector<NodeId>& nodes,
                std::vector<Finding>& findings) {
  const Graph& g = p.compilation.graph;
  i64 cycles = 0;
  std::vector<FindingPlace> where;
  for (const OperatorReport& o : p.program.operators) {
    const auto* call = call_of(g.nodes[nodes[static_cast<size_t>(o.instruction)]].op);
    if (o.op != "cortex_m::transpose" && o.op != "aten::permute_copy" &&
        !(call->delegate && o.op.find("Transpose") != o.op.npos && o.macs == 0))
      continue;
    cycles += std::max<i64>(o.cycles, 0);
    where.push_back(place_of(g, o.origin));
  }
  add_if_dear(p, FindingKind::transposes, "changes the order of axes at run time", std::move(where),
              cycles, "cost models of both sides", findings);
}

void crossings(const Patient& p, std::vector<Finding>& findings) {
  const ProgramCost& cost = p.program.cost;
  if (cost.calls < 2) return;
  add_if_dear(p, FindingKind::crossings,
              fmt::format("{} calls of the NPU, and {} bytes that cross its border", cost.calls,
                          grouped(cost.crossing_bytes())),
              {}, cost.crossing, "assumed: docs/neutron-machine.md", findings);
}

// Of a kernel that computes layers of the partition: which share of its products is padding.
void lanes(const Patient& p, std::vector<Finding>& findings) {
  const Compilation& c = p.compilation;
  if (!p.target.npu) return;
  const PartitionDecisions& partition = c.partition;
  const i64 lanes = p.target.npu->machine.lanes, units = p.target.npu->machine.units;
  for (size_t n = 0; n < partition.graph.nodes.size(); ++n) {
    const Node& node = partition.graph.nodes[n];
    if (!partition.nodes[n].on_npu || !is_layer(node.op) || node.inputs.size() < 2) continue;
    const Shape& weight = partition.graph.type(node.inputs[1]).shape;
    const i64 in = weight.back(), out = weight.front();
    if (in == 1 || weight.size() < 2) continue;  // depthwise: has no sums over channels
    const double used = static_cast<double>(in * out) /
                        static_cast<double>(round_up(in, lanes) * round_up(out, units));
    const auto kernel = std::ranges::find_if(c.npu.kernels, [&](const NpuKernel& k) {
      return k.is_predicted && k.cost.macs > 0 &&
             std::find_first_of(k.origin.begin(), k.origin.end(), node.origin.begin(),
                                node.origin.end()) != k.origin.end();
    });
    if (used > 1 - kLeastUnusedLanes || kernel == c.npu.kernels.end() ||
        kernel->cost.bound() != neutron::Bound::kCompute)
      continue;
    add_if_dear(p, FindingKind::lanes,
                fmt::format("{} input and {} output channels fill {:.0f} % of groups of {} and {}",
                            in, out, 100 * used, lanes, units),
                {place_of(c.graph, kernel->origin)},
                static_cast<i64>((1 - used) * static_cast<double>(kernel->cost.compute)),
                "unused products on the open model of the NPU", findings);
  }
}

bool is_batch_norm(const Graph& g, const Origin& origin) {
  return !origin.empty() && std::ranges::all_of(origin, [&](i32 id) {
    return g.sources[id].target.starts_with("aten.batch_norm");
  });
}

void batch_norms(const Patient& p, const std::vector<NodeId>& nodes,
                 std::vector<Finding>& findings) {
  const Graph& g = p.compilation.graph;
  const Uses uses(g);
  for (const OperatorReport& o : p.program.operators) {
    const Node& node = g.nodes[nodes[static_cast<size_t>(o.instruction)]];
    if (!is_batch_norm(g, o.origin) || o.cycles <= 0 || is_at_port(g, node)) continue;
    Finding f = finding_of(FindingKind::unfolded_batch_norm,
                           fmt::format("a batch norm is a call of its own, {}", o.op),
                           {place_of(g, o.origin)}, static_cast<double>(o.cycles),
                           operator_cycles_text(p, o));
    const NodeId before = node.inputs.empty() ? -1 : uses.producer[node.inputs[0]];
    if (before < 0 || is_at_port(g, g.nodes[before])) {
      f.why = "it is the first operator, so no layer before it can take its factors";
      f.change =
          "scale the data where it is made, and leave the batch norm out of the exported model: "
          "the same function";
      f.code.clear();
    }
    findings.push_back(std::move(f));
  }
}

// Of operators that multiply: what else takes long has a finding of its own.
void dominant(const Patient& p, std::vector<Finding>& findings) {
  const Graph& g = p.compilation.graph;
  std::vector<OperatorReport> operators;  // those of one origin, in bands of rows, as one
  for (const OperatorReport& o : p.program.operators) {
    if (o.cycles < 0 || o.macs == 0 || is_batch_norm(g, o.origin)) continue;
    const auto same = std::ranges::find(operators, o.origin, &OperatorReport::origin);
    if (same == operators.end()) operators.push_back(o);
    else same->cycles += o.cycles, same->macs += o.macs;
  }
  if (operators.size() < kLeastOperators) return;
  for (const OperatorReport& o : operators) {
    const double share = share_of_cycles(p, o.cycles);
    if (share < kDominantShare) continue;
    findings.push_back(finding_of(
        FindingKind::dominant_operator,
        fmt::format("{} takes {:.0f} % of the time, with {} multiply-adds", o.op, 100 * share,
                    grouped(o.macs)),
        {place_of(g, o.origin)}, static_cast<double>(o.cycles), operator_cycles_text(p, o)));
  }
}

void short_scratch(const Patient& p, std::vector<Finding>& findings) {
  const Compilation& c = p.compilation;
  i64 bytes = 0, cycles = 0;
  std::vector<FindingPlace> where;
  for (const ShortScratch& s : c.short_scratch) {
    bytes = std::max(bytes, s.bytes), cycles += s.cycles;
    const bool is_band = &s != &c.short_scratch[0] && (&s)[-1].origin == s.origin;
    if (!is_band) where.push_back(place_of(c.graph, s.origin));
  }
  const size_t before = findings.size();
  add_if_dear(
      p, FindingKind::short_scratch,
      fmt::format("works in smaller pieces, for want of {} bytes of scratch", grouped(bytes)),
      std::move(where), cycles, of_cpu(p), findings);
  if (findings.size() > before)
    findings.back().attempt = fmt::format("--max-ram {}", c.plan.bytes + bytes);
}

void memories(const Patient& p, std::vector<Finding>& findings) {
  add_if_dear(p, FindingKind::slow_constants, "the CPU waits for its constants", {},
              p.program.cost.wait, "assumed: docs/cpu-cost.md", findings);
  const RowBands& bands = p.compilation.row_bands;
  if (bands.operators == 0) return;
  const std::string macs = bands.extra_macs > 0
                               ? fmt::format("{} more multiply-adds of {} (counted)",
                                             grouped(bands.extra_macs), grouped(p.program.macs))
                               : std::string("no more multiply-adds (counted)");
  findings.push_back(finding_of(FindingKind::row_bands,
                                fmt::format("{} operators in up to {} bands of rows, {} more calls",
                                            bands.operators, bands.bands, bands.extra_calls),
                                {}, -1, macs + "; cycles not known"));
}

}  // namespace

void examine_time(const Patient& p, std::vector<Finding>& findings) {
  const std::vector<NodeId> nodes = nodes_of_instructions(p.compilation.graph);
  ports(p, nodes, findings);
  transposes(p, nodes, findings);
  crossings(p, findings);
  lanes(p, findings);
  batch_norms(p, nodes, findings);
  dominant(p, findings);
  short_scratch(p, findings);
  memories(p, findings);
}

}  // namespace deuteron
