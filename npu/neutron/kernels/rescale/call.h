// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/machine/microcode.h"

namespace deuteron::neutron {

// y[i] = clamp(y_zero + rq(x[i] - x_zero)): a stand-alone activation, or a change of scale.
struct RescaleCall {
  Operand x, y;
  int32_t count, x_zero, y_zero, multiplier, shift, y_min, y_max;
};

}  // namespace deuteron::neutron
