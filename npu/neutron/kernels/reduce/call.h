// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/machine/microcode.h"

namespace deuteron::neutron {

// Reductions of x [extent...] over the axes whose bit is set in `axes` (bit i: axis i of the six),
// y without them and without gaps. GlobalAvgPool (axes h and w), ReduceMean, ReduceSum:
// clamp(y_zero + rq(sum of (x - x_zero))): the factor 1/count of a mean is in the multiplier.
// ReduceMax, ReduceMin: clamp(extreme), or clamp(y_zero + rq(extreme - x_zero)) when multiplier is
// not 0. Limit: elements summed up <= kMostSummed
struct ReduceCall {
  Operand x, y;
  int32_t extent[kMaxRank], axes;
  int32_t x_zero, y_zero, multiplier, shift, y_min, y_max;
};

}  // namespace deuteron::neutron
