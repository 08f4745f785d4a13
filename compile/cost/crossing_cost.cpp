// SPDX-License-Identifier: Apache-2.0
#include "compile/cost/crossing_cost.h"

#include "compile/cost/cpu_cost.h"
#include "ir/rewrite/view_rules.h"
#include "npu/neutron/delegate/payload.h"
#include "ops/kernel_call/number_calls.h"
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
  const auto note = [&](const Face* face, bool flag, ValueId v) {
    if (flag && is_identity(face->order)) values.push_back(v);
  };
  for (i32 k = 0; k < p.inputs; ++k) {
    const u8 at = p.input_map[k];
    note(face_of_operand(call, at), p.input_flags[k], node.inputs[at]);
  }
  for (i32 k = 0; k < p.outputs; ++k) {
    const u8 at = p.output_map[k];
    note(face_of_result(call, at), p.output_flags[k], node.outputs[at]);
  }
  return values;
}

}  // namespace deuteron
