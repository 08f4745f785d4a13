// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/machine/microcode.h"

namespace deuteron::neutron {

// y[row,o] = clamp(y_zero + rq_o(bias[o] + sum over i of (x[row,i] - x_zero) * w[o,i])); x
// [rows,in], y [rows,out]. weights  as in Conv2DPointwise: [ceil(out/8)][ceil(in/8)][8 outputs][8
// inputs]; params as in ConvCall
struct FullyConnectedCall {
  Operand x, y, weights, params;
  int32_t rows, in, out;
  int32_t x_zero, y_zero, y_min, y_max;
};
constexpr int64_t fully_connected_weight_bytes(const FullyConnectedCall& a) {
  return round_up_to(a.out, 8) * round_up_to(a.in, 8);
}

}  // namespace deuteron::neutron
