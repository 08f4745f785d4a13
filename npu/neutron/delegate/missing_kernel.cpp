// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/delegate/missing_kernel.h"

#include "npu/neutron/delegate/payload.h"
#include "npu/neutron/machine/check.h"

namespace deuteron {
namespace {

const char* text_of(int32_t kind) {
  using neutron::Kind;
  switch (static_cast<Kind>(kind)) {
#define NEUTRON_KIND(value, name, call, folder) \
  case Kind::k##name:                           \
    return "the NPU kernel " #name " is not linked in";
#include "npu/neutron/machine/kinds.inc"
    default:
      return nullptr;
  }
}

}  // namespace

const char* missing_kernel(const uint8_t* payload, uint32_t payload_bytes, int32_t error) {
  using namespace neutron;
  NeutronPayload p;
  if (!read_payload(payload, payload_bytes, &p).ok() || !p.is_open_model) return nullptr;
  if (category_of(error) != kNeutronUnsupported || reason_of(error) != Reason::kKernelNotLinked)
    return nullptr;
  // The driver has checked every call up to the one that it refuses, so sizes are right.
  uint32_t at;
  __builtin_memcpy(&at, p.microcode + 4 * kCallsOffsetWord, 4);
  CallHead head{};
  for (int32_t call = call_of(error); call > 0;
       --call, at += 4 * static_cast<uint32_t>(head.words)) {
    if (at > p.microcode_bytes || p.microcode_bytes - at < sizeof head) return nullptr;
    __builtin_memcpy(&head, p.microcode + at, sizeof head);
    if (call == 1) return text_of(head.kind);
    if (head.words < 1) return nullptr;
  }
  return nullptr;
}

}  // namespace deuteron
