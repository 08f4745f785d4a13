// SPDX-License-Identifier: Apache-2.0
// The kernel calls in a payload's microcode for the open machine model: to print them and to
// estimate how long they take.
#pragma once
#include "npu/neutron/delegate/payload.h"
#include "npu/neutron/machine/microcode.h"

namespace deuteron {

struct NeutronKernelCall {
  neutron::Kind kind = neutron::Kind::kProfileDump;
  const uint8_t* structure = nullptr;  // behind the head, 4-aligned
};

// Goes from call to call; ends at the first that does not fit. Nothing but sizes is checked: that
// is the driver's work.
class NeutronCalls {
 public:
  explicit NeutronCalls(const NeutronPayload& payload);
  bool next(NeutronKernelCall* call);

 private:
  const uint8_t *at_ = nullptr, *end_ = nullptr;
  uint32_t left_ = 0;
};

// Cycles of all calls on a nominal machine, whatever the payload says of its own: for time limits.
// 0 for a vendor's microcode. Of a payload that the driver has prepared: otherwise the extents may
// be anything.
int64_t estimate_cycles(const NeutronPayload& payload);

}  // namespace deuteron
