// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/machine/microcode.h"

namespace deuteron::neutron {

// kernels/softmax/kernel.h: x, y [rows,columns]; y has scale 1/256 and zero point -128.
struct SoftmaxCall {
  Operand x, y;
  int32_t rows, columns, multiplier, shift, diff_min;
};

}  // namespace deuteron::neutron
