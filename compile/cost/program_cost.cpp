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

const MemoryRegion* memory_of_tensors(const Target& target) {
  const MemoryRegion* only = nullptr;
  for (const MemoryRegion& m : target.memories) {
    if (!m.is_planned() || !m.is_reached_by("cpu")) continue;
    if (only) return nullptr;
    only = &m;
  }
  return only;
}

// Bytes of tensors that a call's loops load, beside reading each element once: layers for each
// group of filters that meets a window, and where they widen what they pack; depthwise kernels what
// they multiply. As bench/wait_states.cpp counts where each 4 bytes of tensors wait; the loops of
// portable kernels and of recurrent layers are not known.
static i64 loaded_by_loops(const Graph& g, const Node& node, Isa isa) {
  const KernelCall& call = *call_of(node.op);
  if (call.macs == 0) return 0;
  if (call.name.find("depthwise") != std::string::npos)
    return isa == Isa::mve ? call.macs * 3 / 4 : call.macs * 3;
  const CpuWork work = cpu_work(g, node);
  if (isa == Isa::dsp) return call.macs / 2 + 3 * work.taps;
  constexpr i64 kFew = 4;  // windows, of fully connected layers
  if (isa != Isa::mve) return work.windows <= kFew ? call.macs / 4 : call.macs * 9 / 4;
  const bool is_pointwise = work.taps == g.type(node.inputs[0]).elements();
  return call.macs / (is_pointwise ? 8 : 4);
}

// The CPU, for what a call moves of a memory: its constants, or its tensors. What does not fit into
// the caches is read anew in each pass.
static i64 waiting_for(const Graph& g, const Node& node, const MemoryRegion& m, bool constants,
                       Isa isa) {
  const Traffic traffic = traffic_of(g, node, isa);
  const auto cycles = [](i64 bytes, i64 speed_q8) {
    return (bytes * 256 + speed_q8 - 1) / speed_q8;
  };
  i64 bytes = 0, once = 0, all = 0;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (g.is_constant(node.inputs[i]) != constants) continue;
    const i64 own = g.type(node.inputs[i]).bytes();
    bytes += own, once += cycles(own, m.bytes_per_cycle_q8);
    all += cycles(traffic.inputs[i].read, m.bytes_per_cycle_q8);
  }
  for (size_t i = 0; i < node.outputs.size() && !constants; ++i) {
    const i64 written = cycles(traffic.outputs[i].written, m.write_bytes_per_cycle_q8);
    bytes += g.type(node.outputs[i]).bytes(), once += written, all += written;
  }
  if (!constants) all += cycles(loaded_by_loops(g, node, isa), m.bytes_per_cycle_q8);
  const bool reads_once = constants ? m.cache_bytes < 0 || bytes <= m.cache_bytes
                                    : m.cache_bytes >= 0 && bytes <= m.cache_bytes;
  return reads_once ? once : all;
}

static bool is_transpose(const KernelCall& call) {
  return call.name == "cortex_m::transpose" || call.name == "aten::permute_copy";
}

ProgramCost program_cost(const Graph& g, i64 npu_cycles, const Target& target) {
  ProgramCost cost;
  cost.npu = npu_cycles;
  cost.kind_of_cpu = kind_of_cpu_cycles(target);
  const Uses uses(g);
  const MemoryRegion *constants = memory_of_constants(target), *tensors = memory_of_tensors(target);
  if (!constants && tensors && tensors->does_hold("constants")) constants = tensors;
  for (const Node& node : g.nodes) {
    const auto* call = call_of(node.op);
    if (!call) continue;
    if (!call->delegate) {
      const std::optional<i64> cycles = cpu_cycles(g, node, target);
      cost.cpu += cycles.value_or(0);
      cost.not_known += cycles ? 0 : 1;
      if (constants && constants->bytes_per_cycle_q8 > 0)
        cost.wait += waiting_for(g, node, *constants, true, target.isa);
      if (tensors && tensors->bytes_per_cycle_q8 > 0)
        cost.tensor_wait += waiting_for(g, node, *tensors, false, target.isa);
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
