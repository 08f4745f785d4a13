// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/delegate/calls.h"

#include "npu/neutron/machine/kernel_def.h"

namespace deuteron {
using namespace neutron;

NeutronCalls::NeutronCalls(const NeutronPayload& p) {
  if (!p.is_open_model) return;
  uint32_t first;
  __builtin_memcpy(&first, p.microcode + 4 * kCallsOffsetWord, 4);
  if (first % 4 != 0 || first > p.microcode_bytes) return;
  at_ = p.microcode + first;
  end_ = p.microcode + p.microcode_bytes;
  left_ = p.kernel_calls;
}

bool NeutronCalls::next(NeutronKernelCall* call) {
  CallHead head;
  if (left_ == 0 || static_cast<size_t>(end_ - at_) < sizeof head) return false;
  __builtin_memcpy(&head, at_, sizeof head);
  if (head.words < static_cast<int32_t>(sizeof head / 4) || head.words > (end_ - at_) / 4)
    return false;
  const KernelDef* def = def_of(static_cast<Kind>(head.kind));
  if (def == nullptr) return false;
  if (head.words < static_cast<int32_t>(sizeof head / 4) + def->call_words) return false;
  *call = {static_cast<Kind>(head.kind), at_ + sizeof head};
  at_ += 4 * head.words;
  --left_;
  return true;
}

// Round numbers near those of the N3-64. A payload's own might make little work look long, or much
// work short.
static Machine nominal_machine() {
  Machine m;
  m.units = m.lanes = 8, m.accumulators = 16, m.depthwise_lanes = 1, m.tile_cycles = 8;
  m.sram_bytes_q8 = 1 << 12, m.fetch_bytes_q8 = 1 << 8,
  m.vector_elements_q8 = m.softmax_cycles_q8 = 1 << 11;
  m.setup_cycles = 1 << 11, m.fetch_setup_cycles = 1 << 8;
  return m;
}

int64_t estimate_cycles(const NeutronPayload& payload) {
  constexpr int64_t kMost = int64_t{1} << 50;  // far beyond any time limit; a sum cannot overflow
  const Machine machine = nominal_machine();
  NeutronCalls calls(payload);
  int64_t sum = 0;
  for (NeutronKernelCall call; calls.next(&call) && sum < kMost;) {
    const int64_t cycles = cost_of(machine, call.kind, call.structure).total();
    if (cycles < 0 || cycles > kMost) return kMost;
    sum += cycles;
  }
  return sum;
}

}  // namespace deuteron
