#include "passes/node_cost.h"

#include "backends/neutron/converter.h"
#include "backends/neutron/forms.h"
#include "backends/neutron/neutron_ir.h"
#include "passes/compilation.h"
#include "passes/options.h"
#include "passes/program_cost.h"
#include "passes/subgraph.h"
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

std::optional<i64> npu_cycles(PassContext& pass, Graph body) {
  i64 budget = 1'000'000;
  neutron::to_neutron_forms(body, &budget);
  neutron::ConvertOptions options;
  options.machine = pass.target.npu->machine;
  options.fetch_constants_to_sram = pass.options.npu.fetch_constants;
  Diagnostics ignored;
  const std::optional<neutron::Converted> converted = neutron::convert(neutron::write_neutron_ir(body).flatbuffer, options, ignored);
  if (!converted) return std::nullopt;
  i64 cycles = 0;
  for (const neutron::KernelUse& use : converted->kernels) cycles += use.cost.total();
  return cycles;
}

static i64 on_cpu(PassContext& pass, Graph graph) {
  i64 budget = 1'000'000;
  Diagnostics ignored;
  Compilation result;
  PassContext alone{graph, pass.target, pass.samples, pass.options, result, ignored, &budget};
  choose_kernels(alone);
  leftovers(alone);
  if (!ignored.has_errors()) lower(alone);
  if (ignored.has_errors()) return -1;
  const ProgramCost cost = program_cost(graph, 0, pass.target);
  return cost.not_known > 0 ? -1 : cost.cpu + cost.wait;
}

SideCosts side_costs(PassContext& pass, const Node& node, bool takes) {
  SideCosts costs;
  const Graph alone = graph_of(pass.graph, node);
  if (takes && pass.target.npu) costs.npu = npu_cycles(pass, alone).value_or(-1);
  if (!pass.target.cpu_cost.empty()) costs.cpu = on_cpu(pass, alone);
  return costs;
}

}  // namespace deuteron
