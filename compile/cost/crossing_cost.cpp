// SPDX-License-Identifier: Apache-2.0
#include "compile/cost/crossing_cost.h"

#include "compile/cost/cpu_cost.h"
#include "ir/rewrite/view_rules.h"
#include "npu/neutron/delegate/payload.h"
#include "targets/target.h"

namespace deuteron {

// A line of [cpu.cost]: no kernel of the program, but a loop inside the call of the delegate.
static constexpr const char* kTransposeLine = "NeutronBackend::transpose";

i64 crossing_cycles(const NpuCrossing& c, i64 bytes) {
  return c.port_cycles + (bytes + c.line_bytes - 1) / c.line_bytes * c.line_cycles;
}

std::optional<i64> border_transpose_cycles(const Target& target, i64 bytes) {
  return cpu_cycles({kTransposeLine, "*"}, {.results = bytes}, target);
}

std::vector<ValueId> transposed_by_cpu(const Node& node) {
  std::vector<ValueId> values;
  const KernelCall& call = std::get<KernelCall>(node.op);
  NeutronPayload p;
  const std::vector<u8>& bytes = call.delegate->processed;
  if (call.name != kNeutronBackendId ||
      !read_payload(bytes.data(), static_cast<uint32_t>(bytes.size()), &p).ok())
    return values;
  const auto note = [&](const KernelArg& arg, bool flag, const std::vector<ValueId>& of) {
    if (flag && is_identity(arg.face.order)) values.push_back(of[arg.integer]);
  };
  for (i32 k = 0; k < p.inputs; ++k) note(call.args[p.input_map[k]], p.input_flags[k], node.inputs);
  for (i32 k = 0; k < p.outputs; ++k)
    note(call.args[p.arguments + p.output_map[k]], p.output_flags[k], node.outputs);
  return values;
}

}  // namespace deuteron
