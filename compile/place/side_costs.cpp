// SPDX-License-Identifier: Apache-2.0
#include "compile/place/side_costs.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include "compile/cost/crossing_cost.h"
#include "compile/cost/npu_cost.h"
#include "compile/cost/program_cost.h"
#include "compile/place/subgraph.h"
#include "compile/trial.h"
#include "ops/families.h"
#include "targets/target.h"

namespace deuteron {

// With the node's own sources: to copy all of them for each node would take the square of their
// number. A delegate's body names all.
static Graph graph_of(const Graph& g, const Node& node) {
  const bool has_body = is_lowered(node.op);
  Subgraph alone(g, g.name, has_body ? Subgraph::Sources::same : Subgraph::Sources::none);
  for (const ValueId v : node.inputs)
    if (!g.is_constant(v) && !alone.has(v)) alone.add_input(v);
  for (const ValueId v : node.outputs) alone.add_output(v);
  alone.add(node);
  Graph graph = alone.take();
  if (has_body) return graph;
  for (const i32 source : node.origin) graph.sources.push_back(g.sources[source]);
  Origin& origin = graph.nodes[0].origin;
  std::iota(origin.begin(), origin.end(), 0);
  return graph;
}

// Packed weights may grow here: in the program other calls make room for those of a small one.
constexpr i64 kAnyGrowthPercent = 1000;

i64 bytes_of_constants(const Graph& g) {
  std::set<ValueId> read;
  for (const Node& node : g.nodes)
    for (const ValueId v : node.inputs)
      if (g.is_constant(v)) read.insert(v);
  i64 bytes = 0;
  for (const ValueId v : read) bytes += g.type(v).bytes();
  return bytes;
}

// {cycles, or -1; bytes of constants}
static std::pair<i64, i64> on_cpu(const PassContext& pass, Graph graph) {
  Trial trial(pass, std::move(graph));
  trial.rewrites_left = -1;  // --stop-after N is about the program
  trial.options.packed_growth_percent = kAnyGrowthPercent;
  if (!trial.run("choose-kernels", "fit-scratch")) return {-1, 0};
  const ProgramCost cost = program_cost(trial.graph, 0, pass.target);
  return {cost.not_known > 0 ? -1 : cost.cpu + cost.wait + cost.tensor_wait,
          bytes_of_constants(trial.graph)};
}

SideCosts side_costs(const PassContext& pass, const Node& node, bool takes) {
  SideCosts costs;
  Graph alone = graph_of(pass.graph, node);
  if (takes && pass.target.npu)
    costs.npu = npu_cost(alone, *pass.target.npu, pass.options.npu.fetch_constants)
                    .value_or(NpuCost{-1, 0})
                    .cycles;
  if (!pass.target.cpu_cost.empty()) costs.cpu = on_cpu(pass, std::move(alone)).first;
  return costs;
}

PartCosts part_costs(const PassContext& pass, const Uses& uses, std::span<const NodeId> nodes) {
  const Graph& g = pass.graph;
  const auto is_inside = [&](NodeId n) { return std::ranges::binary_search(nodes, n); };
  Subgraph part(g, g.name, Subgraph::Sources::same);
  PartCosts costs;
  const auto crosses = [&](ValueId v) {
    costs.crossing += crossing_cycles(pass.target.npu->crossing, g.type(v).bytes());
  };
  for (const NodeId n : nodes)
    for (const ValueId v : g.nodes[n].inputs)
      if (!g.is_constant(v) && !part.has(v) && !is_inside(uses.producer[v]))
        part.add_input(v), crosses(v);
  for (const NodeId n : nodes) part.add(g.nodes[n]);
  for (const NodeId n : nodes)
    for (const ValueId v : g.nodes[n].outputs)
      if (uses.output_uses[v] > 0 || !std::ranges::all_of(uses.readers[v], is_inside))
        part.add_output(v), crosses(v);
  Graph graph = part.take();
  const std::optional<NpuCost> npu =
      npu_cost(graph, *pass.target.npu, pass.options.npu.fetch_constants);
  if (npu) costs.sides.npu = npu->cycles, costs.npu_bytes = npu->bytes;
  if (!pass.target.cpu_cost.empty())
    std::tie(costs.sides.cpu, costs.cpu_bytes) = on_cpu(pass, std::move(graph));
  return costs;
}

}  // namespace deuteron
