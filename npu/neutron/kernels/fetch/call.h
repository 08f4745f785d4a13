// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/machine/microcode.h"

namespace deuteron::neutron {

// Fetch `bytes` from `from` (weights) to `to` (SRAM weight scratch) by the copy callback when there
// is one; `channel` is handed to it. What a call reads from the SRAM weight scratch a MemCpy before
// it has written.
struct MemCpyCall {
  Operand from, to;
  int32_t bytes, channel;
};

}  // namespace deuteron::neutron
