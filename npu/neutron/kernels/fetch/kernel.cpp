// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/machine/kernel.h"
#include "npu/neutron/kernels/fetch/call.h"

namespace deuteron::neutron {
namespace {

void fetch(const MemCpyCall& a, const Memory& memory) {
  if (a.bytes == 0) return;  // nothing may lie nowhere, and no channel is asked to move it
  const auto bytes = static_cast<uint32_t>(a.bytes), channel = static_cast<uint32_t>(a.channel);
  int8_t* to = memory.write(a.to);
  const int8_t* from = memory.read(a.from);
  if (memory.copy == nullptr) {
    std::memmove(to, from, bytes);
    return;
  }
  memory.copy(to, const_cast<int8_t*>(from), bytes,
              channel);  // the vendor's interface; it only reads
  if (memory.wait != nullptr) memory.wait(channel);
}

}  // namespace
}  // namespace deuteron::neutron

DEUTERON_NEUTRON_KERNEL(MemCpy, fetch(a, memory))
