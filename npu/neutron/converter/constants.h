// SPDX-License-Identifier: Apache-2.0
// The constants of the kernel calls: their places in the weights section and, when they are
// fetched, in the SRAM weight scratch, with the calls that fetch them.
#pragma once
#include "npu/neutron/converter/lowering.h"

namespace deuteron::neutron {

struct ConstantPlan {
  std::vector<u8> weights;         // the section
  std::vector<EncodedCall> calls;  // with their operands, and the fetches among them
  i64 sram_bytes = 0;              // of the SRAM weight scratch
};

// `fetch`: the constants of a call are copied to SRAM while the call before it runs, so those of
// two neighbouring calls are there at once.
ConstantPlan plan_constants(const CallList& list, bool fetch);

}  // namespace deuteron::neutron
