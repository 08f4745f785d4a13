// SPDX-License-Identifier: Apache-2.0
#include "compile/cost/program_cost.h"

#include "compile/cost/cpu_cost.h"
#include "compile/cost/crossing_cost.h"
#include "compile/cost/traffic.h"
#include "ops/families.h"
#include "targets/target.h"

namespace deuteron {

const MemoryRegion* memory_of_constants(const Target& target) {
  for (const MemoryRegion& m : target.memories)
    if (m.does_hold("constants") && !m.does_hold("activations") && m.is_reached_by("cpu"))
      return &m;
  return nullptr;
}

// What does not fit into the caches is read anew in each pass over the constants.
static i64 waiting_for_constants(const Graph& g, const Node& node, const MemoryRegion& m, Isa isa) {
  const Traffic traffic = traffic_of(g, node, isa);
  const auto cycles = [&](i64 bytes) {
    return (bytes * 256 + m.bytes_per_cycle_q8 - 1) / m.bytes_per_cycle_q8;
  };
  i64 bytes = 0, once = 0, all = 0;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!g.is_constant(node.inputs[i])) continue;
    const i64 own = g.type(node.inputs[i]).bytes();
    bytes += own, once += cycles(own), all += cycles(traffic.inputs[i].read);
  }
  return m.cache_bytes < 0 || bytes <= m.cache_bytes ? once : all;
}

static bool is_transpose(const KernelCall& call) {
  return call.name == "cortex_m::transpose" || call.name == "aten::permute_copy";
}

ProgramCost program_cost(const Graph& g, i64 npu_cycles, const Target& target) {
  ProgramCost cost;
  cost.npu = npu_cycles;
  cost.kind_of_cpu = kind_of_cpu_cycles(target);
  const Uses uses(g);
  const MemoryRegion* constants = memory_of_constants(target);
  for (const Node& node : g.nodes) {
    const auto* call = call_of(node.op);
    if (!call) continue;
    if (!call->delegate) {
      const std::optional<i64> cycles = cpu_cycles(g, node, target);
      cost.cpu += cycles.value_or(0);
      cost.not_known += cycles ? 0 : 1;
      if (constants && constants->bytes_per_cycle_q8 > 0)
        cost.wait += waiting_for_constants(g, node, *constants, target.isa);
      cost.transposes += is_transpose(*call) ? 1 : 0;
      continue;
    }
    const auto delegate = static_cast<i32>(cost.calls++);
    if (target.npu) cost.crossing += target.npu->crossing.call_cycles;
    const auto cross = [&](ValueId v, bool to_npu) {
      const i64 bytes = g.type(v).bytes();
      cost.crossings.push_back({v, delegate, to_npu, bytes});
      if (target.npu) cost.crossing += crossing_cycles(target.npu->crossing, bytes);
    };
    for (const ValueId v : node.inputs) cross(v, true);
    for (const ValueId v : transposed_by_cpu(node)) {
      ++cost.border_transposes;
      cost.crossing += border_transpose_cycles(target, g.type(v).bytes()).value_or(0);
    }
    for (const ValueId v : node.outputs)  // scratch is nobody's
      if (!uses.readers[v].empty() || uses.output_uses[v] > 0) cross(v, false);
  }
  return cost;
}

}  // namespace deuteron
