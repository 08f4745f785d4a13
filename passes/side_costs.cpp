#include "passes/side_costs.h"

#include "cost/npu_cost.h"
#include "cost/program_cost.h"
#include "passes/subgraph.h"
#include "passes/trial.h"
#include "targets/target.h"

namespace deuteron {

static Graph graph_of(const Graph& g, const Node& node) {
  Subgraph alone(g, g.name);
  for (const ValueId v : node.inputs)
    if (!g.is_constant(v) && !alone.has(v)) alone.add_input(v);
  for (const ValueId v : node.outputs) alone.add_output(v);
  alone.add(node);
  return alone.take();
}

// Packed weights may grow here: in the program other calls make room for those of a small one.
constexpr i64 kAnyGrowthPercent = 1000;

static i64 on_cpu(const PassContext& pass, Graph graph) {
  Trial trial(pass, std::move(graph));
  trial.rewrites_left = -1;  // --max-rewrites is about the program
  trial.options.packed_growth_percent = kAnyGrowthPercent;
  if (!trial.run("choose-kernels", "fit-scratch")) return -1;
  const ProgramCost cost = program_cost(trial.graph, 0, pass.target);
  return cost.not_known > 0 ? -1 : cost.cpu + cost.wait;
}

SideCosts side_costs(const PassContext& pass, const Node& node, bool takes) {
  SideCosts costs;
  const Graph alone = graph_of(pass.graph, node);
  if (takes && pass.target.npu) costs.npu = npu_cycles(alone, *pass.target.npu, pass.options.npu.fetch_constants).value_or(-1);
  if (!pass.target.cpu_cost.empty()) costs.cpu = on_cpu(pass, alone);
  return costs;
}

}  // namespace deuteron
