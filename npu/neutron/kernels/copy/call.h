// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/machine/microcode.h"

namespace deuteron::neutron {

// y[sum of i*y_stride] = x[sum of i*x_stride] for every index i below extent: slices with steps,
// parts of a concatenation, transposes, repeats (x_stride 0). The offsets of the operands are the
// first elements.
struct CopyCall {
  Operand x, y;
  int32_t extent[kMaxRank], x_stride[kMaxRank], y_stride[kMaxRank];
};

}  // namespace deuteron::neutron
