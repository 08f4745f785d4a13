// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/machine/microcode.h"

namespace deuteron::neutron {

// y [before + extent + after] = value outside x [extent]; none is negative.
struct PadCall {
  Operand x, y;
  int32_t extent[kMaxRank], before[kMaxRank], after[kMaxRank];
  int32_t value;
};

}  // namespace deuteron::neutron
